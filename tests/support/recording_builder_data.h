/* SPDX-License-Identifier: Apache-2.0
 *
 * recording_builder_data - a recording_builder from inside, for what reads its lines.
 */
#ifndef DWELL_SUPPORT_RECORDING_BUILDER_DATA_H
#define DWELL_SUPPORT_RECORDING_BUILDER_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/vec.h"
#include "named_images.h"
#include "store/writer.h"
#include "words.h"

struct task {
	uint32_t pid, tid, id; /* of processes tid is 0 */
};

struct column {
	char *name;
	uint32_t type;
};

struct trace_type {
	char *name;
	uint32_t n_columns;
	struct column columns[MODEL_TRACE_COLUMNS_MAX];
};

struct event {
	char *name;
	uint64_t period;
};

struct recording_builder {
	struct writer *writer;
	VEC(struct event) events;	    /* by id */
	VEC(struct trace_type) trace_types; /* by id */
	VEC(struct task) processes, threads;
	struct named_images images;
	uint32_t event, pid, tid, cpu; /* of samples that do not say */
	uint64_t time_ns, step_ns;
	bool is_unfinished;
};

/* What the first word of a line means. */
struct recording_builder_line {
	const char *name;
	int (*run)(struct recording_builder *b, const struct words *w, struct err *e);
};

/* The newest process of that pid, as exec makes another one; made when there is none. */
uint32_t recording_builder_process(struct recording_builder *b, uint32_t pid);

#endif
