/* SPDX-License-Identifier: Apache-2.0
 *
 * top_picture - the screen of 'dwell top': the view's head, below it rows, one function
 * in depth or help, and a last line.
 */
#ifndef DWELL_CMD_TOP_PICTURE_H
#define DWELL_CMD_TOP_PICTURE_H

#include "cmd/screen.h"
#include "cmd/top_detail.h"
#include "cmd/top_view.h"

struct top_picture {
	struct top_view *view;
	bool has_view; /* it was made */
	bool is_paused, is_help;

	char *selected; /* key of the row that is; NULL: none is */
	size_t at;	/* its place */
	size_t first;	/* row, or line of a detail or help, that is shown first */
	size_t n_rows;	/* that fit, and ... */
	size_t n_lines; /* ... lines that there are; both set by drawing */

	enum top_detail detail;
	char *detail_of; /* key of the function */

	bool is_prompt; /* a filter is being typed */
	char prompt[TOP_FILTER_MAX];
	char message[300]; /* for the last line; "": none */
};

void top_picture_fini(struct top_picture *p);

/* Rows; none while something else is shown. */
size_t top_picture_n_rows(const struct top_picture *p);
void top_picture_select(struct top_picture *p, size_t i);
void top_picture_unselect(struct top_picture *p);
/* Rows have changed their places: the one that was selected remains so. */
void top_picture_find_selected(struct top_picture *p);

/* In the last line, until the next key. */
void top_picture_say(struct top_picture *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void top_picture_draw(struct top_picture *p, struct screen *s);

#endif
