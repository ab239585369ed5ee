/* SPDX-License-Identifier: Apache-2.0
 *
 * count_reader - what one process left in its file of counts, as foreign bytes.
 *
 * The process may have been killed at any time, or have written into the file itself:
 * all of it is checked once, and refused as a whole.  Owns what it hands out.
 */
#ifndef DWELL_COLLECT_COUNT_READER_H
#define DWELL_COLLECT_COUNT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/own.h"
#include "collect/count_flow.h"
#include "collect/count_window.h"

struct count_common;

struct count_reader_image {
	uint64_t start, size; /* in memory; 0: a program that was not followed */
	uint64_t off;	      /* in the file */
	uint64_t inode;	      /* 0 unknown */
	uint32_t device_major, device_minor;
	const char *path; /* "": memory without a file */
};

enum count_reader_table {
	COUNT_READER_BLOCKS,
	COUNT_READER_PAIRS,
	COUNT_READER_RETURNS,
	COUNT_READER_EXTRAS,
	COUNT_READER_COUNTERS,
	COUNT_READER_PATHS,
	COUNT_READER_N_TABLES
};

struct count_reader {
	/* Counters are the sums over the threads.  A block's .image is an index of
	 * images; n_images: it is in none that is known. */
	struct count_flow_input flow;
	const struct count_reader_image *images;
	size_t n_images;
	/* 0: none is entered.  Images as in blocks. */
	struct count_file_nest nests[COUNT_FILE_NESTS_MAX];
	size_t n_nests;
	uint32_t pid, n_threads;
	char name[COUNT_FILE_NAME_BYTES]; /* of the program; "": not known */
	uint64_t n_lost;	   /* entries that had no room, children without a file */
	bool is_cut;		   /* the file system was full before the process ended */
	bool is_left;		   /* the process went on natively */
	struct map index_of_image; /* by its offset from the first */
	void *tables[COUNT_READER_N_TABLES]; /* the memory of all that */
};

/* On failure there is nothing to release.  ERR_UNSUPPORTED: the process has not begun to
 * write it. */
must_use int count_reader_open(const struct count_window *w, struct count_reader *ret,
			       struct err *e);
/* What it has in common with others is read already, and only as much of it is handed out
 * as may have been executed.  Paths are borrowed from common. */
must_use int count_reader_open_child(const struct count_window *w,
				     struct count_common *common,
				     struct count_reader *ret, struct err *e);
/* The same, but r's tables begin where those that are known end, as there says, and refer
 * to all by their numbers; images are those of all.  touched: by COUNT_READER_CHUNK
 * counters of COUNT_READER_CHUNKS, 1 if one of them may be other than 0. */
#define COUNT_READER_CHUNK  512u
#define COUNT_READER_CHUNKS (COUNT_FILE_COUNTERS_MAX / COUNT_READER_CHUNK + 2)
must_use int count_reader_open_rest(const struct count_window *w,
				    const struct count_reader *known,
				    const struct count_file_base *there, uint8_t *touched,
				    struct count_reader *ret, struct err *e);
void count_reader_fini(struct count_reader *r);

/* Another one in place of a table; returns it. */
void *count_reader_own(struct count_reader *r, enum count_reader_table table, void *p);

#endif
