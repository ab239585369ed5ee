/* SPDX-License-Identifier: Apache-2.0
 *
 * top_view - what 'dwell top' shows: a profile of the last while, by rows.
 *
 * Made anew when something was taken or the user chose something else; batch mode and
 * the screen print the same lines of it.
 */
#ifndef DWELL_CMD_TOP_VIEW_H
#define DWELL_CMD_TOP_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/prevalence.h"
#include "cmd/row_view.h"
#include "cmd/top_feed.h"

/* Names for options; the order is that of enum top_order. */
#define TOP_VIEW_ORDERS	 "exclusive|inclusive|name"
#define TOP_VIEW_WINDOWS "interval|10s|1m|all"
/* Those of all dimensions that tell something about what runs now. */
#define TOP_VIEW_ROWS                                                                    \
	"function|image|file|line|instruction|mode|process|thread|command|cgroup"

enum top_order { TOP_EXCLUSIVE, TOP_INCLUSIVE, TOP_NAME, TOP_N_ORDERS };

struct top_window {
	const char *name;
	uint64_t ns; /* of top_feed_load() */
};

#define TOP_N_WINDOWS 4
extern const struct top_window top_view_windows[TOP_N_WINDOWS];

#define TOP_FILTER_MAX 1000

/* What the user has chosen. */
struct top_choice {
	const struct dimension *by;
	enum top_order order;
	unsigned window;
	char filter[TOP_FILTER_MAX]; /* "": all samples */
	bool no_inline;
};

struct top_view {
	struct top_feed *feed;
	struct top_choice choice;
	const char *subject; /* whose samples: "process 12"; NULL: the machine's */
	unsigned n_cpus;     /* online */
	unsigned width;

	/* Of the last top_view_make(). */
	struct report report;
	size_t column;
	struct row_view rows;
	struct prevalence *owners; /* by function, or NULL */
	struct top_feed_span span;
	uint64_t user_ns, kernel_ns, truncated_ns;
	uint64_t n_samples;
};

/* From what was taken last.  An error may be the choice's. */
must_use int top_view_make(struct top_view *v, struct err *e);
void top_view_fini(struct top_view *v);

/* Their titles and the rows from one on. */
void top_view_print_rows(const struct top_view *v, size_t first, size_t n, FILE *out);

/* What a row is, to find it again in the next view; release with free(). */
char *top_view_row_key(const struct top_view *v, size_t i);
/* The function that a row is or is in; MODEL_NONE. */
uint32_t top_view_row_function(const struct top_view *v, size_t i);
/* A filter that a row's samples pass; false: there is none for such rows. */
bool top_view_row_filter(const struct top_view *v, size_t i, struct buf *ret);

#endif
