/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_words.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "host/executable.h"

#define SEARCH_DEFAULT "/bin:/usr/bin" /* execvp(3) */
#define LINE_MAX_BYTES 256	       /* of a script's first line; the kernel's limit */
#define SCRIPTS_MAX    5	       /* that name each other; likewise */

void count_words_fini(struct count_words *w)
{
	vec_each(s, &w->at)
		free(*s);
	vec_fini(&w->at);
}

static bool is_program(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	if (S_ISREG(st.st_mode) && access(path, X_OK) == 0)
		return true;
	errno = EACCES;
	return false;
}

/* True: found.  Else errno says why not, as execvp(3) would. */
static bool find(const char *name, const char *search, char ret[PATH_MAX])
{
	int why = ENOENT;

	if (strchr(name, '/') || !*name) {
		snprintf(ret, PATH_MAX, "%s", name);
		return is_program(ret);
	}
	for (const char *dirs = search ? search : SEARCH_DEFAULT;;) {
		size_t n = strcspn(dirs, ":");
		int size = snprintf(ret, PATH_MAX, "%.*s%s%s", (int)n, dirs, n ? "/" : "",
				    name);

		if (size > 0 && size < PATH_MAX && is_program(ret))
			return true;
		if (errno == EACCES)
			why = EACCES;
		if (!dirs[n])
			break;
		dirs += n + 1;
	}
	errno = why;
	return false;
}

static void push(struct count_words *w, const char *s)
{
	*vec_push(&w->at) = s ? xstrdup(s) : NULL;
}

/* "#!INTERPRETER ARGUMENT", one argument with all its blanks.  False: it is no script. */
static bool read_script(const char *path, char interpreter[LINE_MAX_BYTES],
			char argument[LINE_MAX_BYTES])
{
	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char line[LINE_MAX_BYTES] = "";
	ssize_t n = fd >= 0 ? read(fd, line, sizeof(line) - 1) : -1;
	char *at = line + 2, *end;

	interpreter[0] = argument[0] = 0;
	if (n < 2 || memcmp(line, "#!", 2) != 0)
		return false;
	at[strcspn(at, "\n")] = 0;
	at += strspn(at, " \t");
	end = at + strcspn(at, " \t");
	snprintf(interpreter, LINE_MAX_BYTES, "%.*s", (int)(end - at), at);
	at = end + strspn(end, " \t");
	for (end = at + strlen(at); end > at && strchr(" \t", end[-1]);)
		*--end = 0;
	snprintf(argument, LINE_MAX_BYTES, "%s", at);
	return true;
}

static bool is_elf(const char *path)
{
	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char magic[4];

	return fd < 0 || (read(fd, magic, 4) == 4 && memcmp(magic, "\177ELF", 4) == 0);
}

/* What runs the file, which is path itself or what its first line names; the words that
 * come before argv[1] go to *front.  False: errno. */
static bool resolve(char path[PATH_MAX], const char *name, struct count_words *front)
{
	char interpreter[LINE_MAX_BYTES], argument[LINE_MAX_BYTES];

	push(front, name);
	for (unsigned i = 0; read_script(path, interpreter, argument); i++) {
		own(count_words_fini) struct count_words inner = *front;

		*front = (struct count_words){ 0 };
		push(front, interpreter);
		if (*argument)
			push(front, argument);
		push(front, path);
		for (size_t k = 1; k < inner.at.n; k++)
			push(front, inner.at.at[k]);
		snprintf(path, PATH_MAX, "%s", interpreter);
		errno = ELOOP;
		if (i == SCRIPTS_MAX || !is_program(path))
			return false;
	}
	if (is_elf(path))
		return true;
	/* As execvp(3): what is no program is a script of the shell's. */
	free(front->at.at[0]);
	front->at.at[0] = xstrdup(path);
	snprintf(path, PATH_MAX, "/bin/sh");
	push(front, NULL);
	for (size_t k = front->at.n - 1; k > 0; k--)
		front->at.at[k] = front->at.at[k - 1];
	front->at.at[0] = xstrdup(path);
	return true;
}

int count_words_make(struct count_words *w, const char *engine, const char *prefix,
		     const char *flags, char *const *argv, const char *search,
		     struct err *e)
{
	own(count_words_fini) struct count_words front = { 0 };
	char path[PATH_MAX], name[PATH_MAX];

	if (!find(argv[0], search, path))
		return err_os(e, "cannot run '%.200s'", argv[0]);
	snprintf(name, sizeof(name), "%s", path);
	if (!resolve(path, argv[0], &front))
		return err_os(e, "cannot run '%.200s'", argv[0]);
	push(w, engine);
	push(w, prefix);
	push(w, flags);
	push(w, path);
	push(w, name);
	push(w, "--");
	vec_each(s, &front.at)
		push(w, *s);
	for (size_t i = 1; argv[i]; i++)
		push(w, argv[i]);
	push(w, NULL);
	return 0;
}

int count_words_check(const char *program, const char *search, struct err *e)
{
	own(count_words_fini) struct count_words front = { 0 };
	char path[PATH_MAX];
	struct executable x;

	if (!program || !find(program, search, path) || !resolve(path, program, &front))
		return 0; /* it cannot be run, which will be told */

	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || executable_probe(fd, &x, NULL) < 0)
		return err_set(e, ERR_UNSUPPORTED,
			       "'%s' cannot be read, so its code cannot be counted",
			       program);
	if (!x.is_64bit || !x.is_native)
		return err_set(e, ERR_UNSUPPORTED,
			       "'%s' is no 64-bit program of this machine", program);
	if (x.is_setid && geteuid() != 0)
		return err_set(e, ERR_UNSUPPORTED,
			       "'%s' runs as another user: it cannot be counted",
			       program);
	return 0;
}
