/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_rows - what recordings have, of one program, of windows in which blocks were
 * counted exactly, and of places that were watched between them.
 *
 * The windows of its processes together, in order, by their own numbers, one recording
 * after the other: what is watched between the last window of one and the first of the
 * next is as if it had been between windows of one.
 */
#ifndef DWELL_ANALYZE_ANCHOR_ROWS_H
#define DWELL_ANALYZE_ANCHOR_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/anchor_windows.h"
#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"

struct profile;

struct anchor_programs;

struct anchor_rows_block {
	uint32_t sym_image, window;
	uint64_t offset, size, times;
};

#define ANCHOR_ROWS_NOWHERE UINT32_MAX /* instead of an image */

struct anchor_rows_place {
	uint32_t sym_image;
	uint64_t offset;
};

/* In a window: what ends before a place went to another by a jump. */
struct anchor_rows_way {
	struct anchor_rows_place behind, to; /* to: ANCHOR_ROWS_NOWHERE, not known */
	uint32_t window;
	uint64_t times;
};

/* In the native time before a window, or in a moment near it. */
struct anchor_rows_watched {
	uint32_t place, window;
	bool is_near;
	double hits, cpu_ns;
};

/* A recording. */
struct anchor_rows_run {
	uint32_t first_window, n_windows;
	double native_ns, unseen_ns; /* as in all */
	double first_ns;	     /* before its first window */
};

struct anchor_rows {
	VEC(struct anchor_rows_block) blocks; /* by where they are */
	VEC(struct anchor_rows_way) ways;     /* by what they are behind */
	VEC(struct anchor_rows_place) places;
	VEC(struct anchor_rows_watched) watched;
	VEC(struct anchor_window) windows; /* and one behind the last */
	VEC(struct anchor_rows_run) runs;
	uint32_t n_windows;
	double native_ns, unseen_ns; /* unseen: of native, while nothing was sampled */
	double looked_ns; /* sampled of the processes that this is the time of */
};

/* Fills as many as there are programs, which are all zeros. */
must_use int anchor_rows_read(struct anchor_rows *ret, const struct profile *p,
			      const struct anchor_programs *programs, struct err *e);
void anchor_rows_fini(struct anchor_rows *r);

/* The first block at or behind a place. */
size_t anchor_rows_find(const struct anchor_rows *r, uint32_t sym_image, uint64_t offset);

/* The first jump whose end is at or behind a place. */
size_t anchor_rows_find_ways(const struct anchor_rows *r,
			     const struct anchor_rows_place *behind);

#endif
