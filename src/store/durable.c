/* SPDX-License-Identifier: Apache-2.0 */
#include "store/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/text.h"

static size_t directory_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static char *directory_of(const char *path)
{
	size_t n = directory_length(path);

	if (n)
		return xstrndup(path, n);
	return xstrdup(*path == '/' ? "/" : ".");
}

char *durable_temporary(const char *path)
{
	size_t n = directory_length(path);
	const char *name = strrchr(path, '/') ? path + n + 1 : path;

	if (name == path)
		return xasprintf(DURABLE_PREFIX "%s", name);
	return xasprintf("%.*s/" DURABLE_PREFIX "%s", (int)n, path, name);
}

bool durable_is_temporary(const char *name)
{
	return text_starts(name, DURABLE_PREFIX);
}

static int sync_file(const char *path, int flags, struct err *e)
{
	own(closep) int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		return err_os(e, "cannot open '%s'", path);
	/* Some file systems have no fsync for directories: then nobody can do more. */
	if (fsync(fd) != 0 && !(errno == EINVAL && (flags & O_DIRECTORY)))
		return err_os(e, "cannot write '%s' to disk", path);
	return 0;
}

int durable_sync(const char *directory, struct err *e)
{
	return sync_file(directory, O_RDONLY | O_DIRECTORY, e);
}

int durable_commit(const char *temporary, const char *path, struct err *e)
{
	own(freep) char *directory = directory_of(path);
	int rc = sync_file(temporary, O_RDONLY, e);

	if (rc == 0 && rename(temporary, path) != 0)
		rc = err_os(e, "cannot create '%s'", path);
	if (rc < 0) {
		unlink(temporary);
		return rc;
	}
	return durable_sync(directory, e);
}

static int write_all(const char *path, const char *data, size_t size, struct err *e)
{
	own(closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_os(e, "cannot create '%s'", path);
	for (size_t done = 0; done < size;) {
		ssize_t n = write(fd, data + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_os(e, "cannot write '%s'", path);
		done += (size_t)n;
	}
	return 0;
}

int durable_write(const char *path, const void *data, size_t size, struct err *e)
{
	own(freep) char *temporary = durable_temporary(path);
	int rc = write_all(temporary, data, size, e);

	if (rc < 0) {
		unlink(temporary);
		return rc;
	}
	return durable_commit(temporary, path, e);
}

int durable_directory(const char *path, struct err *e)
{
	own(freep) char *parent = directory_of(path);
	struct stat st;

	if (mkdir(path, 0700) == 0)
		return durable_sync(parent, e);
	if (errno != EEXIST)
		return err_os(e, "cannot create '%s'", path);
	if (stat(path, &st) != 0)
		return err_os(e, "cannot open '%s'", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_OS, "'%s' is not a directory", path);
	return 0;
}
