/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PIECE 64 /* a multiple of which pages are */

static bool read_file(void *fd, uint64_t at, void *to, size_t bytes)
{
	return pread(*(const int *)fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

int inject_memory_open(pid_t pid, int how, int *ret_fd, struct inject_memory *ret,
		       struct err *e)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	*ret_fd = open(path, how | O_CLOEXEC);
	*ret = (struct inject_memory){ read_file, ret_fd };
	return *ret_fd < 0 ? err_os(e, "its memory cannot be had") : 0;
}

bool inject_memory_string(const struct inject_memory *m, uint64_t at, char *ret,
			  size_t cap)
{
	size_t n = 0;

	while (n + 1 < cap) {
		size_t left = cap - 1 - n, piece = PIECE - (at + n) % PIECE;

		piece = piece < left ? piece : left;
		if (!inject_memory_read(m, at + n, ret + n, piece))
			return false;
		if (memchr(ret + n, 0, piece))
			return true;
		n += piece;
	}
	ret[n] = 0;
	return true;
}
