/* SPDX-License-Identifier: Apache-2.0
 *
 * count_record - what a process has left of counts becomes part of a recording.
 *
 * Its images are told to the tracker; its blocks, edges and instructions go to the
 * writer, instructions as samples of one frame.
 */
#ifndef DWELL_COLLECT_COUNT_RECORD_H
#define DWELL_COLLECT_COUNT_RECORD_H

#include <stdint.h>

#include "collect/count_code.h"
#include "collect/count_reader.h"
#include "collect/count_stacks.h"
#include "collect/source.h"
#include "collect/tracker.h"

/* Sums over all processes, and where all goes, which is borrowed. */
struct count_record {
	struct tracker *tracker;
	struct writer *writer;
	uint32_t event;			/* id in the recording */
	const char *directory;		/* that paths count from which are not absolute */
	const struct code_place *under; /* functions, by which nests are named */
	size_t n_under;
	struct count_code code;
	struct count_stacks stacks; /* of what was under no chosen function */
	uint64_t n_samples;
	uint64_t n_unbalanced;	 /* executions that came from or went nowhere */
	uint64_t n_unknown;	 /* ways that could not be told */
	uint64_t n_lost;	 /* entries that had no room */
	uint64_t n_cut;		 /* programs whose counts end early */
	uint64_t n_left;	 /* programs that went on natively */
	uint64_t n_not_followed; /* programs that were executed natively */
	uint64_t n_undecoded;	 /* blocks whose instructions are told as one */
};

void count_record_fini(struct count_record *c);
/* Of a process that the tracker knows.  start_ns: it is known since. */
void count_record_take(struct count_record *c, uint32_t pid, uint64_t start_ns,
		       uint64_t now_ns, const struct count_reader *r);

#endif
