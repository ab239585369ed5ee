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

/* Up to the line's end. */
static unsigned copy_from_line(struct code_bytes *c, uint64_t off, uint8_t *to,
			       unsigned n)
{
	const struct code_bytes_line *l = line_of(c, off);
	unsigned at = off % LINE_BYTES, left = at < l->size ? l->size - at : 0;

	n = n < left ? n : left;
	memcpy(to, l->bytes + at, n);
	return n;
}

unsigned code_bytes_read(struct code_bytes *c, uint64_t off, uint8_t *to, unsigned n)
{
	unsigned first;

	if (off >= c->size)
		return 0;
	n = n < c->size - off ? n : (unsigned)(c->size - off);
	if (c->bytes) {
		memcpy(to, c->bytes + off, n);
		return n;
	}
	if (c->fd < 0)
		return 0;
	first = copy_from_line(c, off, to, n);
	if (first == n || (off + first) % LINE_BYTES)
		return first;
	return first + copy_from_line(c, off + first, to + first, n - first);
}
