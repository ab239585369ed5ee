/* SPDX-License-Identifier: Apache-2.0
 *
 * stalls_view - the stalls of a function, of an image's or of all, as text and as JSON.
 */
#ifndef DWELL_CMD_STALLS_VIEW_H
#define DWELL_CMD_STALLS_VIEW_H

#include <stdio.h>

#include "analyze/stall_place.h"
#include "analyze/stall_scales.h"
#include "analyze/stall_sum.h"
#include "base/json.h"
#include "base/vec.h"
#include "cmd/how_often.h"
#include "cmd/report_profile.h"
#include "cmd/stalls_lines.h"

enum stalls_kind { STALLS_ALL, STALLS_OF_IMAGE, STALLS_OF_FUNCTION };

struct stalls_row {
	uint32_t function;
	struct stall_sum sum;
	struct stalls_lines lines;
};

struct stalls_left {
	size_t n; /* functions */
	uint64_t samples;
};

struct stalls_view {
	const struct report *r;
	enum stalls_kind kind;
	const char *name; /* of the image or the function, borrowed */
	struct stall_sum total;
	double runs;			/* that it is of, all together */
	struct stall_scales scales;	/* the same, where how often is an estimate */
	struct stalls_lines lines;	/* of the total */
	VEC(struct stalls_row) rows;	/* those with most samples first */
	VEC(struct stall_place) places; /* those that stall most first, if wanted */
	struct stalls_left late, uncounted, without_code;
	const struct machine_model *model; /* NULL: nothing could be told */
	bool is_nearest_model;
	const char *time;     /* the event that is of time */
	double clock_ghz;     /* 0: that is of cycles */
	uint64_t all_samples; /* of the recording */
	size_t limit;	      /* rows that are shown, 0: all */
	struct how_often how; /* of the total */
};

/* What is asked for: options of the command, and of all functions those that can be
 * looked at in so many seconds of CPU time, 0: all. */
struct stalls_choice {
	const char *name; /* function, image, NULL or "all" */
	const char *model;
	double clock_ghz, seconds;
	size_t limit;
	bool with_places;
};

must_use int stalls_view_init(struct stalls_view *ret, const struct report *r,
			      const struct stalls_choice *choice, struct err *e);
void stalls_view_fini(struct stalls_view *v);

/* How many of these are shown. */
size_t stalls_view_shown(const struct stalls_view *v, size_t n);

void stalls_text_print(const struct stalls_view *v, FILE *out);
void stalls_text_print_procedures(const struct stalls_view *v, FILE *out);
void stalls_text_print_places(const struct stalls_view *v, FILE *out);
/* What grew from one run to another; growth: NULL where how often was counted. */
struct stalls_growth;
void stalls_text_print_two(const struct stalls_view *v, const struct stalls_view *other,
			   const struct stalls_growth *growth, FILE *out);

/* Rows of a report. */
void stalls_json_print(const struct stalls_view *v, struct json *j);
void stalls_json_print_places(const struct stalls_view *v, struct json *j);
void stalls_json_print_two(const struct stalls_view *v, const struct stalls_view *other,
			   const struct stalls_growth *growth, struct json *j);

#endif
