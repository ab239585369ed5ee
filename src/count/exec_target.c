/* SPDX-License-Identifier: Apache-2.0 */
#include "count/exec_target.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bare/sys.h"
#include "count/fd_path.h"
#include "count/own_exe.h"
#include "count/put.h"

#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

#define LEAST_FD 100 /* programs know what they have below */

union head {
	Elf64_Ehdr elf;
	char line[EXEC_TARGET_LINE + 1];
};

/* Kernels may not know the newer call, nor may who has other files in place of those that
 * a program names, as proot does. */
static bool may_execute(const char *path)
{
	long result = sys_call(SYS_faccessat2, AT_FDCWD, path, X_OK, AT_EACCESS, 0, 0);
	bool is_unknown = result == -ENOSYS || result == -ENOENT;

	return result == 0 || (is_unknown && sys_call(SYS_faccessat, AT_FDCWD, path, X_OK,
						      0, 0, 0) == 0);
}

/* The kernel gives it rights that it would not give to the engine. */
static bool has_rights(int fd, const struct stat *st)
{
	unsigned group = S_ISGID | S_IXGRP;

	return (st->st_mode & S_ISUID) || (st->st_mode & group) == group ||
	       sys_call(SYS_fgetxattr, fd, "security.capability", NULL, 0, 0, 0) > 0;
}

static bool is_script(const union head *h)
{
	return h->line[0] == '#' && h->line[1] == '!';
}

static enum exec_verdict judge(const union head *h)
{
	const Elf64_Ehdr *e = &h->elf;

	if (is_script(h))
		return EXEC_FOLLOWED;
	if (memcmp(e->e_ident, ELFMAG, SELFMAG) != 0)
		return EXEC_KERNEL_WILL_SAY;
	return e->e_ident[EI_CLASS] == ELFCLASS64 && e->e_machine == EM_X86_64
		       ? EXEC_FOLLOWED
		       : EXEC_NATIVE;
}

/* Its first bytes. */
static enum exec_verdict look_into(int fd, union head *h)
{
	struct stat st;

	memset(h, 0, sizeof(*h));
	if (sys_call(SYS_fstat, fd, &st, 0, 0, 0, 0) != 0 || !S_ISREG(st.st_mode) ||
	    sys_read(fd, h->line, EXEC_TARGET_LINE) <= 0)
		return EXEC_KERNEL_WILL_SAY;
	return has_rights(fd, &st) ? EXEC_NATIVE : judge(h);
}

static bool is_same_file(int fd, const char *path)
{
	struct stat a, b;

	return sys_call(SYS_fstat, fd, &a, 0, 0, 0, 0) == 0 &&
	       sys_call(SYS_stat, path, &b, 0, 0, 0, 0) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* What is named by a descriptor may be gone when the engine comes to load it: then the
 * file has another path, or is kept open. */
static void keep(struct exec_target *t, int fd)
{
	char real[PATH_MAX];
	long kept;

	if (fd_path(fd, real, sizeof(real)) && is_same_file(fd, real)) {
		*put_text(t->path, real) = 0;
		return;
	}
	kept = sys_call(SYS_fcntl, fd, F_DUPFD, LEAST_FD, 0, 0, 0);
	if (kept < 0)
		return;
	t->fd = (int)kept;
	*put_number(put_text(t->path, "/proc/self/fd/"), (unsigned)kept) = 0;
}

static bool begins(const char *text, const char *with)
{
	while (*with && *text == *with)
		text++, with++;
	return !*with;
}

static bool is_by_fd(const char *path)
{
	return begins(path, "/proc/self/fd/") || begins(path, "/dev/fd/");
}

static enum exec_verdict look_at(struct exec_target *t, union head *h)
{
	enum exec_verdict verdict;
	int fd;

	if (!may_execute(t->path))
		return EXEC_KERNEL_WILL_SAY;
	fd = sys_open(t->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	if (fd < 0)
		return EXEC_NATIVE;
	verdict = look_into(fd, h);
	if (verdict == EXEC_FOLLOWED && !is_script(h) && is_by_fd(t->path))
		keep(t, fd);
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

/* In front of the other words. */
static void push(struct exec_target *t, const char *word)
{
	memmove(t->words + 1, t->words, t->n_words * sizeof(t->words[0]));
	t->words[0] = word;
	t->n_words++;
}

/* Its interpreter, and one argument, in front of its name.  False: the kernel would not
 * take it, or only cut. */
static bool take_line(struct exec_target *t, char *line)
{
	char *end = line, *word, *word_end, *argument;

	while (*end && *end != '\n')
		end++;
	if (!*end)
		return false;
	while (is_space(end[-1]))
		end--;
	*end = 0;
	word = skip(line + 2, true);
	word_end = skip(word, false);
	argument = skip(word_end, true);
	*word_end = 0;
	if (!t->n_words)
		push(t, t->name);
	if (*argument)
		push(t, argument);
	push(t, word);
	*put_text(t->path, word) = 0;
	return *word;
}

static enum exec_verdict find(struct exec_target *t)
{
	enum exec_verdict verdict = EXEC_KERNEL_WILL_SAY;
	union head h;

	t->fd = -1;
	t->n_words = 0;
	for (unsigned i = 0; i <= EXEC_TARGET_SCRIPTS; i++) {
		verdict = look_at(t, &h);
		if (verdict != EXEC_FOLLOWED || !is_script(&h))
			return verdict;
		if (i == EXEC_TARGET_SCRIPTS)
			break;
		memcpy(t->lines[i], h.line, sizeof(h.line));
		if (!take_line(t, t->lines[i]))
			break;
	}
	return EXEC_KERNEL_WILL_SAY;
}

enum exec_verdict exec_target_find(struct exec_target *t, const char *path)
{
	const char *exe = own_exe_of(path);

	*put_text(t->name, exe ? exe : path) = 0;
	*put_text(t->path, t->name) = 0;
	return find(t);
}

/* A script's name would be one that its interpreter cannot open. */
static bool is_closed_then(int fd)
{
	return sys_call(SYS_fcntl, fd, F_GETFD, 0, 0, 0, 0) & FD_CLOEXEC;
}

static char *put_path(char *to, const char *directory, int fd, const char *path)
{
	to = put_number(put_text(to, directory), (unsigned)fd);
	return *path ? put_text(put_text(to, "/"), path) : to;
}

enum exec_verdict exec_target_find_at(struct exec_target *t, int fd, const char *path)
{
	enum exec_verdict verdict;

	if (fd < 0 || strlen(path) > PATH_MAX - 64)
		return EXEC_KERNEL_WILL_SAY;
	*put_path(t->name, "/dev/fd/", fd, path) = 0;
	*put_path(t->path, "/proc/self/fd/", fd, path) = 0;
	verdict = find(t);
	return t->n_words && is_closed_then(fd) ? EXEC_KERNEL_WILL_SAY : verdict;
}
