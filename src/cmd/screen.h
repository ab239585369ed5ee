/* SPDX-License-Identifier: Apache-2.0
 *
 * screen - the whole terminal, for a view that changes: lines out, keys in.
 *
 * Plain escape sequences that every terminal of today understands.  The terminal is as it
 * was after screen_close(), while the program is stopped, and when it dies of a bug.
 * Signals that end the program are events.  One at a time.
 */
#ifndef DWELL_CMD_SCREEN_H
#define DWELL_CMD_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "cmd/key.h"

struct screen;

/* Standard input and output are a terminal that can do it. */
bool screen_is_possible(void);
must_use int screen_open(struct screen **ret, struct err *e);
void screen_close(struct screen *s);
void screen_closep(struct screen **s);

/* Now; never less than 20 by 4. */
void screen_size(const struct screen *s, unsigned *ret_columns, unsigned *ret_rows);

/* What is shown: lines of text, in which only bold and dim are marked, cut where they do
 * not fit. */
struct screen_picture {
	const char *const *lines;
	size_t n;
	size_t selected; /* this line stands out; SIZE_MAX: none does */
	size_t prompt;	 /* the cursor is behind this line; SIZE_MAX: it is hidden */
};

void screen_draw(struct screen *s, const struct screen_picture *p);

enum screen_event {
	SCREEN_TIMEOUT,
	SCREEN_KEY,
	SCREEN_CHANGED, /* all must be drawn anew: another size, or we were stopped */
	SCREEN_OVER,	/* a signal or the terminal's end */
};

enum screen_event screen_wait(struct screen *s, uint64_t timeout_ns, uint32_t *ret_key);

#endif
