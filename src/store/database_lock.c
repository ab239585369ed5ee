/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/text.h"
#include "store/database.h"

#define HOLDER_MAX 128
/* A holder that was killed may have a child that ends only now. */
#define GONE_TRIES    200
#define GONE_PAUSE_NS 10000000

/* What the holder wrote of itself: "pid 123 on ant". */
static void read_holder(int fd, char out[HOLDER_MAX])
{
	char raw[HOLDER_MAX / 4] = "";
	ssize_t n = pread(fd, raw, sizeof(raw) - 1, 0);

	raw[n > 0 ? n : 0] = '\0';
	raw[strcspn(raw, "\n")] = '\0';
	text_printable(out, HOLDER_MAX, *raw ? raw : "another process");
}

static int refuse(int fd, const char *directory, struct err *e)
{
	char holder[HOLDER_MAX];

	if (errno != EAGAIN && errno != EACCES)
		return err_os(e, "cannot lock '%s'", directory);
	read_holder(fd, holder);
	return err_set(e, ERR_OS, "'%s' is being written by %s", directory, holder);
}

static int sign(int fd, const char *path, struct err *e)
{
	char host[64] = "", text[HOLDER_MAX];

	gethostname(host, sizeof(host) - 1);
	snprintf(text, sizeof(text), "pid %d on %s\n", (int)getpid(), host);
	if (ftruncate(fd, 0) != 0 ||
	    pwrite(fd, text, strlen(text), 0) != (ssize_t)strlen(text))
		return err_os(e, "cannot write '%s'", path);
	return 0;
}

/* Has the process of this machine that signed it ended? */
static bool is_holder_gone(int fd)
{
	char text[HOLDER_MAX], host[64] = "", there[64] = "";
	int pid = 0;

	read_holder(fd, text);
	gethostname(host, sizeof(host) - 1);
	if (sscanf(text, "pid %d on %63s", &pid, there) != 2 || strcmp(host, there) != 0)
		return false;
	return pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

static int lock_file(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct timespec pause = { .tv_nsec = GONE_PAUSE_NS };
	int rc = fcntl(fd, F_OFD_SETLK, &lock), why = errno;

	for (unsigned i = 0; rc != 0 && i < GONE_TRIES && is_holder_gone(fd); i++) {
		nanosleep(&pause, NULL);
		rc = fcntl(fd, F_OFD_SETLK, &lock);
		why = errno;
	}
	errno = why;
	return rc;
}

int database_lock_take(const char *directory, int *ret_fd, struct err *e)
{
	own(freep) char *path = xasprintf("%s/" DATABASE_LOCK_FILE, directory);
	own(closep) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_os(e, "cannot open '%s'", path);
	if (lock_file(fd) != 0)
		return refuse(fd, directory, e);

	/* A full disk takes no signature, and the lock holds without one. */
	if (sign(fd, path, e) < 0 && errno != ENOSPC && errno != EDQUOT)
		return ERR_OS;
	*ret_fd = steal_fd(&fd);
	return 0;
}
