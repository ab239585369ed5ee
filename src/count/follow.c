/* SPDX-License-Identifier: Apache-2.0 */
#include "count/follow.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "bare/sys.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/engine.h"
#include "count/engine_file.h"
#include "count/exec_target.h"
#include "count/gate.h"
#include "count/memory_limit.h"
#include "count/own_exe.h"
#include "count/program_memory.h"
#include "count/put.h"
#include "count/signals.h"
#include "wire/count_flags.h"

enum { NR = 0, A = 7, B = 6, C = 2, D = 10, E = 8 };

#define OWN_WORDS (FOLLOW_WORDS + EXEC_TARGET_WORDS)
/* Arguments for which there is room on the engine's stack. */
#define WORDS_MAX 4096

static const char *prefix;
static char flags[COUNT_FLAGS_MAX + 1]; /* without the one in front */

void follow_init(const char *own_prefix, const char *own_flags)
{
	bool is_following = own_flags[0] == FOLLOW_FLAG || own_flags[0] == FOLLOW_FLAG_FD;

	prefix = own_prefix;
	own_flags += is_following;
	own_flags += *own_flags == COUNT_FLAG_RAISED;
	if (strlen(own_flags) <= COUNT_FLAGS_MAX)
		put_text(flags, own_flags);
}

/* How many there are; negative: they are not to be read. */
static long count_words(uint64_t words)
{
	long n = 0;
	uint64_t word = 1;

	while (program_memory_read(&word, words + 8 * (uint64_t)n, 8)) {
		if (!word)
			return n;
		n++;
	}
	return -1;
}

/* The engine's own arguments and the program's. */
static bool put_words(uint64_t *to, const struct exec_target *t, const char *own_flags,
		      uint64_t words, long n)
{
	const char *own[] = { "dwell-count", prefix, own_flags, t->path, t->name, "--" };

	_Static_assert(sizeof(own) == FOLLOW_WORDS * sizeof(own[0]), "as begin.c has it");
	for (unsigned i = 0; i < FOLLOW_WORDS; i++)
		*to++ = (uint64_t)own[i];
	for (unsigned i = 0; i < t->n_words; i++)
		*to++ = (uint64_t)t->words[i];
	if (t->n_words) {
		words += 8;
		n--;
	}
	return program_memory_read(to, words, 8 * ((size_t)n + 1));
}

/* The next program ignores what this one does. */
static long pass(struct context *c)
{
	long result;

	signals_lend(c);
	result = gate_pass(c);
	signals_end_loan(c);
	return result;
}

/* Executes the engine with its arguments; what it says when it does not. */
static long execute_words(struct context *c, const char *engine_name,
			  const uint64_t *words, uint64_t env)
{
	uint64_t were[16];
	long result;

	memcpy(were, c->regs, sizeof(were));
	c->regs[NR] = SYS_execve;
	c->regs[A] = (uint64_t)engine_name;
	c->regs[B] = (uint64_t)words;
	c->regs[C] = env;
	result = pass(c);
	memcpy(c->regs, were, sizeof(were));
	return result;
}

/* Executes the engine; returns what the kernel says when it does not. */
static long execute(struct context *c, const struct exec_target *t, uint64_t argv,
		    uint64_t env)
{
	uint64_t here[WORDS_MAX + OWN_WORDS + 1], *words = here;
	char own_flags[sizeof(flags) + 2] = { t->fd < 0 ? FOLLOW_FLAG : FOLLOW_FLAG_FD,
					      COUNT_FLAG_RAISED };
	const char *engine_name = engine_file_name();
	long n = count_words(argv), result = -EFAULT;

	if (n <= 0 || !engine_name)
		return -EFAULT;
	if (n > WORDS_MAX)
		words = sys_map(8 * ((size_t)n + OWN_WORDS + 1),
				MAP_PRIVATE | MAP_ANONYMOUS, -1);
	*put_text(own_flags + 1 + memory_limit_is_raised(), flags) = 0;
	if (words && put_words(words, t, own_flags, argv, n))
		result = execute_words(c, engine_name, words, env);
	if (words && words != here)
		sys_unmap(words, 8 * ((size_t)n + OWN_WORDS + 1));
	return result;
}

static void note_native(const char *path)
{
	struct count_file_image none = { 0 };

	spin_lock(&engine.lock);
	count_output_add_image(&none, path);
	spin_unlock(&engine.lock);
}

/* Returns unless the program is another now, or a signal comes first. */
static long follow(struct context *c, const struct exec_target *t,
		   enum exec_verdict verdict, uint64_t argv, uint64_t env)
{
	long result = 0;

	if (verdict == EXEC_FOLLOWED && !engine.is_attached)
		result = execute(c, t, argv, env);
	if (t->fd >= 0)
		sys_close(t->fd);
	if (result != GATE_NOT_MADE && verdict != EXEC_KERNEL_WILL_SAY)
		note_native(t->name);
	return result;
}

/* By path, and as it was called if the engine could not; but for the engine itself. */
static long follow_path(struct context *c, uint64_t *path, uint64_t argv, uint64_t env)
{
	struct exec_target t = { .fd = -1 };
	enum exec_verdict verdict = EXEC_KERNEL_WILL_SAY;
	char name[PATH_MAX];
	uint64_t was = *path;
	long result;

	if (program_memory_read_text(name, was, sizeof(name)))
		verdict = exec_target_find(&t, name);
	if (follow(c, &t, verdict, argv, env) == GATE_NOT_MADE)
		return GATE_NOT_MADE;
	if (own_exe_at(was))
		*path = (uint64_t)own_exe_at(was);
	result = pass(c);
	*path = was;
	return result;
}

long follow_execve(struct context *c)
{
	return follow_path(c, &c->regs[A], c->regs[B], c->regs[C]);
}

/* Links are the kernel's to refuse. */
static bool is_link(int fd, const char *path)
{
	struct stat st;

	return sys_call(SYS_newfstatat, fd, path, &st, AT_SYMLINK_NOFOLLOW, 0, 0) == 0 &&
	       S_ISLNK(st.st_mode);
}

long follow_execveat(struct context *c)
{
	uint64_t *r = c->regs;
	struct exec_target t = { .fd = -1 };
	enum exec_verdict verdict = EXEC_KERNEL_WILL_SAY;
	char path[PATH_MAX];
	bool is_told = program_memory_read_text(path, r[B], sizeof(path));
	bool is_of_fd = is_told && path[0] != '/' && (int)r[A] != AT_FDCWD;

	if (!is_told || (r[E] & ~(uint64_t)(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) ||
	    (!*path && !(r[E] & AT_EMPTY_PATH)) ||
	    ((r[E] & AT_SYMLINK_NOFOLLOW) && is_link((int)r[A], path)))
		return pass(c);
	if (!is_of_fd)
		return follow_path(c, &r[B], r[C], r[D]);
	verdict = exec_target_find_at(&t, (int)r[A], path);
	if (follow(c, &t, verdict, r[C], r[D]) == GATE_NOT_MADE)
		return GATE_NOT_MADE;
	return pass(c);
}
