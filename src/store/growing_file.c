/* SPDX-License-Identifier: Apache-2.0 */
#include "store/growing_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

void growing_file_init(struct growing_file *f, const char *path, int fd, uint64_t offset)
{
	*f = (struct growing_file){ .fd = fd, .path = xstrdup(path), .offset = offset };
}

void growing_file_init_patient(struct growing_file *f, const char *path)
{
	growing_file_init(f, path, -1, 0);
	f->is_patient = true;
}

/* Room that nothing was written to. */
static void give_back(struct growing_file *f)
{
	/* Of the same size it only frees what is behind that. */
	if (f->has_room && f->fd >= 0)
		f->has_room = ftruncate(f->fd, (off_t)(f->offset - f->waiting.size)) != 0;
}

void growing_file_fini(struct growing_file *f)
{
	if (!f->path)
		return;
	give_back(f);
	closep(&f->fd);
	free(f->path);
	buf_fini(&f->waiting);
	*f = (struct growing_file){ .fd = -1 };
}

uint64_t growing_file_waiting(const struct growing_file *f)
{
	return f->waiting.size;
}

static int take_room(struct growing_file *f, uint64_t end, size_t size)
{
	int rc;

	do
		rc = fallocate(f->fd, FALLOC_FL_KEEP_SIZE, (off_t)end,
			       (off_t)(size + f->kept_bytes));
	while (rc < 0 && errno == EINTR);
	return rc;
}

void growing_file_keep(struct growing_file *f, uint64_t bytes)
{
	f->kept_bytes = bytes;
	/* Where there is none, the next piece is told why. */
	if (bytes && f->fd >= 0)
		f->has_room = take_room(f, f->offset - f->waiting.size, 0) == 0;
}

/* For a piece and what is to come at the end. */
static int keep_room(struct growing_file *f, size_t size, struct err *e)
{
	uint64_t end = f->offset - f->waiting.size;

	if (!f->kept_bytes)
		return 0;
	if (take_room(f, end, size) == 0) {
		f->has_room = true;
		return 0;
	}
	if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)
		return err_os(e, "cannot write '%s'", f->path);
	f->kept_bytes = 0; /* a file system that promises nothing */
	return 0;
}

static int write_at(const struct growing_file *f, uint64_t at, const void *data,
		    size_t size, struct err *e)
{
	const uint8_t *p = data;
	size_t done = 0;

	while (done < size) {
		ssize_t n = pwrite(f->fd, p + done, size - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return err_os(e, "cannot write '%s'", f->path);
		done += (size_t)n;
	}
	return 0;
}

/* Behind what is in the file. */
static int write_all(const struct growing_file *f, const void *data, size_t size,
		     struct err *e)
{
	uint64_t end = f->offset - f->waiting.size;
	int rc = write_at(f, end, data, size, e);

	if (rc < 0 && ftruncate(f->fd, (off_t)end) != 0)
		return rc; /* the reader drops half a block, too */
	return rc;
}

int growing_file_write_behind(struct growing_file *f, uint64_t at, const void *data,
			      size_t size, struct err *e)
{
	f->has_room = true;
	return write_at(f, at, data, size, e);
}

void growing_file_cut_behind(struct growing_file *f, uint64_t at)
{
	if (f->fd >= 0 && ftruncate(f->fd, (off_t)(at > f->offset ? at : f->offset)) != 0)
		return; /* it is longer than it needs to be */
}

static int make(struct growing_file *f, struct err *e)
{
	f->fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return f->fd < 0 ? err_os(e, "cannot create '%s'", f->path) : 0;
}

int growing_file_settle(struct growing_file *f, struct err *e)
{
	int rc = 0;

	if (!f->waiting.size)
		return 0;
	if (f->fd < 0)
		rc = make(f, e);
	if (rc == 0)
		rc = write_all(f, f->waiting.data, f->waiting.size, e);
	if (rc == 0)
		buf_fini(&f->waiting);
	return rc;
}

int growing_file_append(struct growing_file *f, const void *data, size_t size,
			struct err *e)
{
	bool is_written = f->fd >= 0 && !f->waiting.size;
	int rc = 0;

	if (is_written)
		rc = keep_room(f, size, e);
	if (is_written && rc == 0)
		rc = write_all(f, data, size, e);
	if (rc < 0 && !f->is_patient)
		return rc;
	/* Behind what waits already it is tried when that is. */
	if (rc < 0 || !is_written)
		buf_add(&f->waiting, data, size);
	f->offset += size;
	return 0;
}

int growing_file_close(struct growing_file *f, struct err *e)
{
	give_back(f);

	int fd = steal_fd(&f->fd);

	if (fd >= 0 && close(fd) != 0)
		return err_os(e, "cannot write '%s'", f->path);
	return 0;
}
