/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"

/* Of one part; larger ones are not decoded. */
#define PART_MAX ((uint64_t)1 << 30)
#define VDSO_MAX ((uint64_t)1 << 20)

void count_code_fini(struct count_code *c)
{
	vec_each(p, &c->parts)
		free(p->bytes);
	vec_fini(&c->parts);
	map_fini(&c->index);
}

/* As much as there is, from an offset on. */
static size_t read_part(int fd, uint64_t off, uint8_t *to, size_t size)
{
	size_t n = 0;

	while (n < size) {
		ssize_t done = pread(fd, to + n, size - n, (off_t)(off + n));

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			break;
		n += (size_t)done;
	}
	return n;
}

/* at: where in fd the part is. */
static struct count_code_part read_new(int fd, uint64_t at, uint64_t off, uint64_t size)
{
	struct count_code_part p = { .off = off };

	if (fd < 0 || size > PART_MAX)
		return p;
	p.bytes = xcalloc(1, (size_t)size + 1);
	p.size = read_part(fd, at, p.bytes, (size_t)size);
	return p;
}

static struct count_code_part *known(struct count_code *c, uint32_t image, uint64_t off,
				     bool *ret_new)
{
	uint64_t *slot = map_slot(&c->index, hash_pair(image, off), ret_new);

	if (*ret_new) {
		*slot = c->parts.n;
		vec_push(&c->parts);
	}
	return &c->parts.at[*slot];
}

struct count_code_part count_code_of_file(struct count_code *c, uint32_t image, int fd,
					  uint64_t off, uint64_t size)
{
	bool is_new;
	struct count_code_part *p = known(c, image, off, &is_new);
	off_t end = is_new && fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
	uint64_t left = end > 0 && off < (uint64_t)end ? (uint64_t)end - off : 0;

	if (is_new)
		*p = read_new(fd, off, off, size < left ? size : left);
	return *p;
}

struct count_code_part count_code_of_vdso(struct count_code *c, uint32_t image,
					  uint64_t size)
{
	bool is_new;
	struct count_code_part *p = known(c, image, 0, &is_new);

	if (is_new) {
		own(closep) int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);

		*p = read_new(fd, getauxval(AT_SYSINFO_EHDR), 0,
			      size < VDSO_MAX ? size : VDSO_MAX);
	}
	return *p;
}

const uint8_t *count_code_at(const struct count_code_part *p, uint64_t off, size_t size)
{
	if (!p->bytes || off < p->off || off - p->off > p->size ||
	    size > p->size - (off - p->off))
		return NULL;
	return p->bytes + (off - p->off);
}
