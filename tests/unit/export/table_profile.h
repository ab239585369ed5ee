/* SPDX-License-Identifier: Apache-2.0
 *
 * table_profile - a profile given as tables, in the place of analyze/profile.c.
 *
 * Exporters know a profile only by analyze/profile.h, so a test that links this can
 * give them any frame: inlined, hostile, unresolved, deep.  One profile at a time.
 */
#ifndef DWELL_TABLE_PROFILE_H
#define DWELL_TABLE_PROFILE_H

#include "analyze/profile.h"
#include "export/exporter.h"

#define TABLE_FRAMES_MAX  8
#define TABLE_COLUMNS_MAX 3

struct table_stack {
	size_t n;
	uint32_t functions[TABLE_FRAMES_MAX]; /* outermost first */
	bool is_inlined[TABLE_FRAMES_MAX];
	uint64_t weights[TABLE_COLUMNS_MAX];
	uint64_t counts[TABLE_COLUMNS_MAX];
};

struct profile {
	const struct profile_column *columns;
	size_t n_columns;
	const struct profile_function *functions;
	uint32_t n_functions;
	const struct table_stack *stacks; /* each also is a sample per column */
	size_t n_stacks;
};

/* Samples are of thread "worker" (101) of process 100.  Frame i of a stack is at address
 * 0x1000 * (function + 1) + i, line 10 + i. */
void table_profile_frames(const struct table_stack *s, struct profile_frame *ret);
/* The example of every test: main calls work and read; kernel, inlined and hostile
 * names, recursion, two events. */
extern const struct profile table_profile_example;

/* What the exporter of that name writes, terminated; the caller frees.  Fails the
 * test when it fails. */
char *table_profile_export(const struct profile *p, const char *name,
			   const struct export_options *o, size_t *ret_size);

#endif
