/* SPDX-License-Identifier: Apache-2.0
 *
 * count_window - a sparse file, of which only what was written is looked at.
 *
 * A file of counts says that it is a terabyte; what is in it fits in memory.
 */
#ifndef DWELL_COLLECT_COUNT_WINDOW_H
#define DWELL_COLLECT_COUNT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct count_extent {
	uint64_t from, to;
};

struct count_window {
	void *ctx;
	uint64_t size;
	/* The next bytes that were written, from at on; false: none are. */
	bool (*next)(void *ctx, uint64_t at, struct count_extent *ret);
	/* False: it cannot be read, or ends before. */
	bool (*read)(void *ctx, uint64_t off, void *to, size_t n);
};

/* *fd is borrowed; a file without a size (ret->size 0) could not be asked for it. */
void count_window_over(const int *fd, struct count_window *ret);
/* All of these bytes were written. */
bool count_window_is_whole(const struct count_window *w, uint64_t off, uint64_t n);

#endif
