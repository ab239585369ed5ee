/* SPDX-License-Identifier: Apache-2.0 */
#include "count/follow.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bare/sys.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/engine.h"
#include "count/gate.h"
#include "count/own_exe.h"
#include "count/program_memory.h"
#include "count/put.h"
#include "wire/count_flags.h"

enum { NR = 0, A = 7, B = 6, C = 2, D = 10, E = 8 };

#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

#define ENGINE	   "/proc/self/exe"
#define FIRST_LINE 256		      /* as much of a script as the kernel looks at */
#define OWN_WORDS  (FOLLOW_WORDS + 3) /* and a script's */
/* Arguments for which there is room on the engine's stack. */
#define WORDS_MAX 4096

static const char *prefix;
static char flags[COUNT_FLAGS_MAX + 2];

void follow_init(const char *own_prefix, const char *own_flags)
{
	bool is_following = *own_flags == FOLLOW_FLAG;

	prefix = own_prefix;
	flags[0] = FOLLOW_FLAG;
	if (strlen(own_flags) <= COUNT_FLAGS_MAX)
		put_text(flags + !is_following, own_flags);
}

enum verdict {
	FOLLOWED,
	NATIVE,		 /* a program that cannot be followed */
	KERNEL_WILL_SAY, /* no program, and what comes of that */
};

union head {
	Elf64_Ehdr elf;
	char line[FIRST_LINE + 1];
};

/* What is executed, and what comes before the program's own arguments. */
struct target {
	char name[PATH_MAX]; /* as it was called */
	char argument[FIRST_LINE + 1];
	char interpreter[FIRST_LINE + 1]; /* empty: it is no script */
};

static bool may_execute(const char *path)
{
	long result = sys_call(SYS_faccessat2, AT_FDCWD, path, X_OK, AT_EACCESS, 0, 0);

	return result == 0 || (result == -ENOSYS && sys_call(SYS_faccessat, AT_FDCWD,
							     path, X_OK, 0, 0, 0) == 0);
}

/* The kernel gives it rights that it would not give to the engine. */
static bool has_rights(int fd, const struct stat *st)
{
	unsigned group = S_ISGID | S_IXGRP;

	return (st->st_mode & S_ISUID) || (st->st_mode & group) == group ||
	       sys_call(SYS_fgetxattr, fd, "security.capability", NULL, 0, 0, 0) > 0;
}

static enum verdict judge(const union head *h)
{
	const Elf64_Ehdr *e = &h->elf;

	if (memcmp(e->e_ident, ELFMAG, SELFMAG) != 0)
		return KERNEL_WILL_SAY;
	return e->e_ident[EI_CLASS] == ELFCLASS64 && e->e_machine == EM_X86_64 ? FOLLOWED
									       : NATIVE;
}

/* Its first bytes; a script is followed as well. */
static enum verdict look_at(const char *path, union head *h)
{
	struct stat st;
	enum verdict verdict = NATIVE;
	int fd;

	memset(h, 0, sizeof(*h));
	if (!may_execute(path))
		return KERNEL_WILL_SAY;
	fd = sys_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0)
		return NATIVE;
	if (sys_call(SYS_fstat, fd, &st, 0, 0, 0, 0) != 0 || !S_ISREG(st.st_mode) ||
	    sys_read(fd, h->line, FIRST_LINE) <= 0)
		verdict = KERNEL_WILL_SAY;
	else if (!has_rights(fd, &st))
		verdict = h->line[0] == '#' && h->line[1] == '!' ? FOLLOWED : judge(h);
	sys_close(fd);
	return verdict;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static char *skip(char *at, bool are_spaces)
{
	while (*at && is_space(*at) == are_spaces)
		at++;
	return at;
}

/* False: the kernel would not take it, or only cut. */
static bool read_line(struct target *t, char *line)
{
	char *end = line, *word, *word_end;

	while (*end && *end != '\n')
		end++;
	if (!*end)
		return false;
	while (is_space(end[-1]))
		end--;
	*end = 0;
	word = skip(line + 2, true);
	word_end = skip(word, false);
	put_text(t->argument, skip(word_end, true));
	*word_end = 0;
	put_text(t->interpreter, word);
	return *word;
}

static enum verdict find_target(struct target *t, uint64_t path)
{
	union head h;
	enum verdict verdict;

	memset(t, 0, sizeof(*t));
	if (!program_memory_read_text(t->name, path, sizeof(t->name)))
		return KERNEL_WILL_SAY;
	if (own_exe_of(t->name))
		*put_text(t->name, own_exe_of(t->name)) = 0;
	verdict = look_at(t->name, &h);
	if (verdict != FOLLOWED || memcmp(h.elf.e_ident, ELFMAG, SELFMAG) == 0)
		return verdict;
	if (!read_line(t, h.line))
		return KERNEL_WILL_SAY;
	verdict = look_at(t->interpreter, &h);
	/* a script whose interpreter is one */
	return verdict == FOLLOWED && judge(&h) != FOLLOWED ? NATIVE : verdict;
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
static bool put_words(uint64_t *to, const struct target *t, uint64_t words, long n)
{
	const char *path = t->interpreter[0] ? t->interpreter : t->name;
	const char *own[] = { "dwell-count", prefix, flags, path, t->name, "--" };

	_Static_assert(sizeof(own) == FOLLOW_WORDS * sizeof(own[0]), "as begin.c has it");
	for (unsigned i = 0; i < FOLLOW_WORDS; i++)
		*to++ = (uint64_t)own[i];
	if (t->interpreter[0]) {
		*to++ = (uint64_t)t->interpreter;
		if (t->argument[0])
			*to++ = (uint64_t)t->argument;
		*to++ = (uint64_t)t->name;
		words += 8;
		n--;
	}
	return program_memory_read(to, words, 8 * ((size_t)n + 1));
}

/* Executes the engine; returns what the kernel says when it does not. */
static long execute(struct context *c, const struct target *t, uint64_t argv,
		    uint64_t env)
{
	uint64_t here[WORDS_MAX + OWN_WORDS + 1], *words = here;
	uint64_t were[16];
	long n = count_words(argv), result;

	if (n <= 0)
		return -EFAULT;
	if (n > WORDS_MAX)
		words = sys_map(8 * ((size_t)n + OWN_WORDS + 1),
				MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!words || !put_words(words, t, argv, n))
		return -EFAULT;
	memcpy(were, c->regs, sizeof(were));
	c->regs[NR] = SYS_execve;
	c->regs[A] = (uint64_t)ENGINE;
	c->regs[B] = (uint64_t)words;
	c->regs[C] = env;
	result = gate_pass(c);
	memcpy(c->regs, were, sizeof(were));
	if (words != here)
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

/* As it was called, but for the engine itself. */
static long execute_natively(struct context *c, uint64_t *path)
{
	uint64_t was = *path;
	const char *exe = own_exe_at(was);
	long result;

	if (exe)
		*path = (uint64_t)exe;
	result = gate_pass(c);
	*path = was;
	return result;
}

static long follow(struct context *c, uint64_t *path, uint64_t argv, uint64_t env)
{
	struct target t;
	enum verdict verdict = find_target(&t, *path);

	if (verdict == FOLLOWED && !engine.is_attached &&
	    execute(c, &t, argv, env) == GATE_NOT_MADE)
		return GATE_NOT_MADE;
	if (verdict != KERNEL_WILL_SAY)
		note_native(t.name);
	return execute_natively(c, path);
}

long follow_execve(struct context *c)
{
	return follow(c, &c->regs[A], c->regs[B], c->regs[C]);
}

long follow_execveat(struct context *c)
{
	uint64_t *r = c->regs;
	char path[PATH_MAX];

	if (r[E] || !program_memory_read_text(path, r[B], sizeof(path)) ||
	    (path[0] != '/' && (int)r[A] != AT_FDCWD)) {
		note_native(path);
		return gate_pass(c);
	}
	return follow(c, &r[B], r[C], r[D]);
}
