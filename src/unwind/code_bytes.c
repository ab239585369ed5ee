/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/code_bytes.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"

#define LINE_BYTES 256u
#define N_LINES	   128u
/* Descriptors from here on are left to those that cannot do without (1024 is the usual
 * limit): such a file's code is not looked at. */
#define FD_MAX 640

struct code_bytes_line {
	uint64_t number; /* off / LINE_BYTES + 1; 0 when empty */
	uint32_t size;	 /* less than LINE_BYTES at the end of the file */
	uint8_t bytes[LINE_BYTES];
};

static int keep_open(int fd)
{
	own(closep) int kept = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return kept < FD_MAX ? steal_fd(&kept) : -1;
}

void code_bytes_init(struct code_bytes *c, int fd, const uint8_t *bytes, uint64_t size)
{
	*c = (struct code_bytes){ .fd = fd < 0 ? -1 : keep_open(fd),
				  .bytes = fd < 0 ? bytes : NULL,
				  .size = size };
}

void code_bytes_fini(struct code_bytes *c)
{
	closep(&c->fd);
	free(c->lines);
}

static const struct code_bytes_line *line_of(struct code_bytes *c, uint64_t off)
{
	uint64_t number = off / LINE_BYTES + 1;
	struct code_bytes_line *l;

	if (!c->lines)
		c->lines = xcalloc(N_LINES, sizeof(*c->lines));
	l = &c->lines[number % N_LINES];
	if (l->number != number) {
		ssize_t n = pread(c->fd, l->bytes, LINE_BYTES,
				  (off_t)((number - 1) * LINE_BYTES));

		l->number = number;
		l->size = n > 0 ? (uint32_t)n : 0;
	}
	return l;
}

static bool copy_from_line(struct code_bytes *c, uint64_t off, uint8_t *ret, uint32_t n)
{
	const struct code_bytes_line *l = line_of(c, off);
	uint32_t at = off % LINE_BYTES;

	if (at + n > l->size)
		return false;
	memcpy(ret, l->bytes + at, n);
	return true;
}

bool code_bytes_word(struct code_bytes *c, uint64_t off, uint64_t *ret)
{
	uint8_t word[8];
	uint32_t left = LINE_BYTES - off % LINE_BYTES, n = left < 8 ? left : 8;

	if (off > c->size || c->size - off < 8)
		return false;
	if (c->bytes)
		memcpy(word, c->bytes + off, 8);
	else if (c->fd < 0 || !copy_from_line(c, off, word, n) ||
		 (n < 8 && !copy_from_line(c, off + n, word + n, 8 - n)))
		return false;
	memcpy(ret, word, 8);
	return true;
}
