/* SPDX-License-Identifier: Apache-2.0
 *
 * table_profile - a profile given as tables.
 *
 * The stacks become a recording and a profile reads it; only its names are the table's
 * instead of the symbolizer's, so that a test can have any frame: inlined, hostile,
 * unresolved.
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

struct table_profile {
	const struct profile_column *columns;
	size_t n_columns;
	const struct profile_function *functions;
	uint32_t n_functions;
	const struct table_stack *stacks; /* each also is a sample per column */
	size_t n_stacks;
};

/* Samples are of thread "worker" (101) of process 100.  Frame i of a stack is at address
 * 0x1000 * (function + 1) + i, line 10 + i; what is inlined is at the address of what it
 * is inlined into.  Borrows the tables. */
struct profile *table_profile_load(const struct table_profile *t);
/* The example of every test: main calls work and read; kernel, inlined and hostile
 * names, recursion, two events. */
extern const struct table_profile table_profile_example;

/* n stacks of one sample each, of different functions below one; the first is the
 * lightest. */
struct table_profile table_profile_wide(uint32_t n);
void table_profile_wide_fini(struct table_profile *t);

/* What the exporter of that name writes, terminated; the caller frees.  Fails the
 * test when it fails. */
char *table_profile_export(const struct table_profile *t, const char *name,
			   const struct export_options *o, size_t *ret_size);

#endif
