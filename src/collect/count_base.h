/* SPDX-License-Identifier: Apache-2.0
 *
 * count_base - files of counts in which those of children begin.
 *
 * The child of a fork has its parent's tables in the parent's file (wire/count_file.h).
 * That one stays open here, though its process may be gone and its name removed, until
 * all its children have been met and read.  One recorder's, by one thread.
 */
#ifndef DWELL_COLLECT_COUNT_BASE_H
#define DWELL_COLLECT_COUNT_BASE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "collect/count_directory.h"
#include "collect/count_window.h"
#include "wire/count_file.h"

/* One file, and through it those that it itself begins in. */
struct count_base;
struct count_common;

struct count_bases {
	struct map of_id;		  /* their pointers */
	VEC(struct count_base *) waiting; /* whose names are removed, the oldest first */
	VEC(struct count_base *) indexed; /* with a count_common, the oldest first */
	uint64_t n_indexed;		  /* their blocks */
};

void count_bases_fini(struct count_bases *b);

/* A child's file f has been met.  NULL: it begins in none, or that one is lost. */
struct count_base *count_bases_meet(struct count_bases *b,
				    const struct count_directory *d,
				    struct count_directory_file f);
/* The child has been read. */
void count_bases_leave(struct count_bases *b, struct count_base *base);

/* f is going to be removed, though children of its process may be met yet. */
void count_bases_keep(struct count_bases *b, const struct count_directory *d,
		      struct count_directory_file f);

/* What children that begin in base have in common, as much of it as there says at most;
 * NULL: nothing that it is worth while to have.  Good until the next is asked for. */
struct count_common *count_bases_common(struct count_bases *b, struct count_base *base,
					const struct count_file_base *there);

/* As long as it is not left; NULL: of none. */
const struct count_window *count_base_window(const struct count_base *base);

#endif
