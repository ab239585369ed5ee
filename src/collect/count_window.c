/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_window.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* A file system that does not tell holes has written everything. */
static bool next_of_file(void *ctx, uint64_t at, struct count_extent *ret)
{
	int fd = *(const int *)ctx;
	off_t from = lseek(fd, (off_t)at, SEEK_DATA);
	off_t to;

	if (from < 0 && errno == EINVAL)
		from = (off_t)at;
	if (from < 0)
		return false;
	to = lseek(fd, from, SEEK_HOLE);
	if (to < 0)
		to = lseek(fd, 0, SEEK_END);
	*ret = (struct count_extent){ (uint64_t)from, (uint64_t)to };
	return to > from;
}

static bool read_file(void *ctx, uint64_t off, void *to, size_t n)
{
	uint8_t *at = to;

	while (n) {
		ssize_t done = pread(*(const int *)ctx, at, n, (off_t)off);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		at += done;
		off += (uint64_t)done;
		n -= (size_t)done;
	}
	return true;
}

void count_window_over(const int *fd, struct count_window *ret)
{
	struct stat st;

	*ret = (struct count_window){
		.ctx = (void *)fd,
		.size = fstat(*fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size
								    : 0,
		.next = next_of_file,
		.read = read_file,
	};
}

bool count_window_is_whole(const struct count_window *w, uint64_t off, uint64_t n)
{
	struct count_extent x;

	if (off > w->size || n > w->size - off)
		return false;
	for (uint64_t at = off; at < off + n; at = x.to)
		if (!w->next(w->ctx, at, &x) || x.from > at)
			return false;
	return true;
}
