/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/held_file.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "bare/sys.h"

#define LOCKS "/proc/locks"
#define KIND  "POSIX"
/* "1: POSIX  ADVISORY  WRITE 4242 fd:00:77 0 EOF" */
#define KIND_WORD 1
#define PID_WORD  4
/* Who may have more descriptors, and locks, is asked for these. */
#define N_DESCRIPTORS_MAX 65536

/* A line is read word by word, whatever pieces the file comes in. */
struct words {
	char word[24]; /* the beginning of it */
	size_t n;
	unsigned which; /* of its line */
	bool is_kind;
	const char *pid;
	bool is_found;
};

static void end_word(struct words *w)
{
	if (!w->n)
		return;
	w->word[w->n] = 0;
	if (w->which == KIND_WORD)
		w->is_kind = strcmp(w->word, KIND) == 0;
	if (w->which == PID_WORD && w->is_kind)
		w->is_found |= strcmp(w->word, w->pid) == 0;
	w->which++;
	w->n = 0;
}

static void take(struct words *w, char c)
{
	if (c == ' ' || c == '\n')
		end_word(w);
	else if (w->n + 1 < sizeof(w->word))
		w->word[w->n++] = c;
	if (c == '\n') {
		w->which = 0;
		w->is_kind = false;
	}
}

/* True also where it is not known. */
static bool has_locks(void)
{
	char pid[24] = "", text[1024];
	struct words w = { .pid = pid };
	int fd = sys_open(LOCKS, O_RDONLY | O_CLOEXEC, 0);
	long n = 0;

	/* As whoever mounted the file system sees it. */
	if (fd < 0 || sys_readlink("/proc/self", pid, sizeof(pid) - 1) <= 0)
		w.is_found = true;
	while (!w.is_found && (n = sys_read(fd, text, sizeof(text))) > 0)
		for (long i = 0; i < n; i++)
			take(&w, text[i]);
	if (fd >= 0)
		sys_close(fd);
	return w.is_found || n < 0;
}

static bool is_same(int fd, const struct stat *file)
{
	struct stat st;

	return sys_call(SYS_fstat, fd, &st, 0, 0, 0, 0) == 0 &&
	       st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* There is one as long as there is a lock, which goes with any that is closed. */
static int find(const struct stat *file)
{
	struct rlimit limit = { .rlim_cur = N_DESCRIPTORS_MAX };
	int found = HELD_FILE_NONE;
	char c;

	sys_call(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit, 0, 0);
	for (int fd = 0; fd < N_DESCRIPTORS_MAX && (rlim_t)fd < limit.rlim_cur; fd++) {
		if (!is_same(fd, file))
			continue;
		if (sys_call(SYS_pread64, fd, &c, 1, 0, 0, 0) >= 0)
			return fd;
		found = HELD_FILE_UNREADABLE;
	}
	return found;
}

int held_file_at(int directory_fd, const char *path)
{
	struct stat file = { 0 };
	int fd;

	if (!has_locks())
		return HELD_FILE_NONE;
	/* This one is no opening that locks know of. */
	fd = (int)sys_call(SYS_openat, directory_fd, path, O_PATH | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return HELD_FILE_NONE;
	if (sys_call(SYS_fstat, fd, &file, 0, 0, 0, 0) < 0)
		file.st_ino = 0;
	sys_close(fd);
	return file.st_ino ? find(&file) : HELD_FILE_NONE;
}
