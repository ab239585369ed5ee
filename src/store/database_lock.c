/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "store/database.h"

#define HOLDER_MAX 128

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

int database_lock_take(const char *directory, int *ret_fd, struct err *e)
{
	own(freep) char *path = xasprintf("%s/" DATABASE_LOCK_FILE, directory);
	own(closep) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fd < 0)
		return err_os(e, "cannot open '%s'", path);
	if (fcntl(fd, F_OFD_SETLK, &lock) != 0)
		return refuse(fd, directory, e);

	/* A full disk takes no signature, and the lock holds without one. */
	if (sign(fd, path, e) < 0 && errno != ENOSPC && errno != EDQUOT)
		return ERR_OS;
	*ret_fd = steal_fd(&fd);
	return 0;
}
