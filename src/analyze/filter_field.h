/* SPDX-License-Identifier: Apache-2.0
 *
 * filter_field - what a filter can ask about: one table, a field a line.
 */
#ifndef DWELL_ANALYZE_FILTER_FIELD_H
#define DWELL_ANALYZE_FILTER_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"

/* What decides the answer, hence where it is looked up. */
enum filter_scope {
	FILTER_BY_TIME,	  /* ranges of time */
	FILTER_BY_THREAD, /* the sample's thread */
	FILTER_BY_EVENT,
	FILTER_BY_CPU,
	FILTER_BY_WEIGHT,
	FILTER_BY_FRAME, /* any frame of the stack */
	FILTER_BY_LEAF,	 /* the innermost frame */
};

#define FILTER_FIELD_TEXTS 3

/* What a test is applied to. */
struct filter_subject {
	const struct recording *recording;
	const struct profile *profile;
	uint32_t id;			   /* thread, event or interval */
	const struct profile_frame *frame; /* of the frame scopes */
};

struct filter_field {
	const char *name;
	enum filter_scope scope;
	bool is_time; /* numbers are durations since the start of the recording */
	/* The texts to compare with, for i below FILTER_FIELD_TEXTS; NULL: no such one.
	 * The first one's pointer stands for all (the same text may have several). */
	const char *(*text)(const struct filter_subject *s, unsigned i);
	bool (*number)(const struct filter_subject *s, uint64_t *ret);
	/* Equality of texts where it is more than strcmp; NULL: strcmp. */
	bool (*equal)(const char *have, const char *want);
	const char *summary;
};

extern const struct filter_field filter_fields[]; /* ends with .name NULL */

const struct filter_field *filter_field_find(const char *name, size_t size);
/* The field most like the name, or NULL when none is near. */
const struct filter_field *filter_field_near(const char *name, size_t size);

#endif
