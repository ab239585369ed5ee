/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/image.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES 65536

struct image_place image_plain_place(struct image *im, uint32_t function)
{
	struct sym_frame f = { .function = function };

	return (struct image_place){ function_table_add_frame(im->functions, &f), 1 };
}

bool image_blob(const struct image *im, const char *kind, const char *name,
		struct buf *ret)
{
	const struct sym_options *o = im->options;

	return o->blob && o->blob(o->blob_ctx, &im->ref, kind, name, ret);
}

bool image_read_file(const char *path, size_t max, struct buf *ret)
{
	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	while (ret->size <= max) {
		n = read(fd, buf_reserve(ret, READ_BYTES), READ_BYTES);
		if (n <= 0)
			break;
		ret->size += (size_t)n;
	}
	return n == 0;
}
