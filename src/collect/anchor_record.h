/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_record - what was counted in a window of time becomes part of a recording.
 *
 * Blocks with how often they were executed, and the places that are watched between
 * windows, by their addresses in the process.  Where in the recording code is that was
 * executed once is kept from window to window.
 */
#ifndef DWELL_COLLECT_ANCHOR_RECORD_H
#define DWELL_COLLECT_ANCHOR_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "collect/anchor_choice.h"
#include "collect/anchor_site.h"
#include "collect/count_live.h"
#include "collect/tracker.h"

/* Locations of a block in the recording, each one more than it is; 0: not known. */
struct anchor_record_block {
	uint32_t at, behind, to;
};

/* Of one program that a process runs; tracker and writer are borrowed. */
struct anchor_record {
	struct tracker *tracker;
	struct writer *writer;
	uint32_t pid;
	uint32_t process; /* in the recording; MODEL_NONE: nobody has told of it yet */
	struct map locations; /* by address, of what has been executed in a window */
	/* Of the last window; sites by address, each once, and in files only. */
	VEC(struct anchor_choice_block) blocks;
	VEC(struct anchor_site) sites;
	/* What is kept, as long as it is of that file and its images are in those places;
	 * the last place: of code in none. */
	struct count_file_id id;
	VEC(struct tracker_code) places;
	VEC(struct anchor_record_block) kept; /* by block */
	VEC(uint32_t) kept_pairs;	      /* where pairs lead, as above */
};

void anchor_record_fini(struct anchor_record *a);
/* Nothing is where it was. */
void anchor_record_forget(struct anchor_record *a);
/* A window, of which nothing is known until it is taken. */
void anchor_record_begin(struct anchor_record *a);
/* Counted: CPU time that it took in translation. */
void anchor_record_window(struct anchor_record *a, uint32_t window, uint64_t now_ns,
			  uint64_t counted_ns, const struct count_live *l);
/* Instructions that were executed in it. */
double anchor_record_insns(const struct anchor_record *a);
/* An address of some window's block: it was met so often in that much CPU time. */
void anchor_record_watched(struct anchor_record *a, uint32_t window, uint64_t addr,
			   uint64_t times, uint64_t cpu_ns);
/* The same of a site, and whether that was right before or behind the window. */
void anchor_record_site(struct anchor_record *a, uint32_t window, bool is_near,
			const struct anchor_site *s, uint64_t times, uint64_t cpu_ns);
/* The process took that much CPU time, and was not being counted; of that so much while
 * another was, and no other experiment looked. */
void anchor_record_passed(struct anchor_record *a, uint32_t window, uint64_t cpu_ns,
			  uint64_t unseen_ns);

#endif
