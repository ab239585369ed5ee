/* SPDX-License-Identifier: Apache-2.0
 *
 * top_screen - 'dwell top' on a terminal: draws the view again and again, and does what
 * keys say.
 */
#ifndef DWELL_CMD_TOP_SCREEN_H
#define DWELL_CMD_TOP_SCREEN_H

#include "cmd/top_view.h"

/* n: end after so many looks; 0: when the user says so. */
must_use int top_screen_run(struct top_view *v, uint64_t delay_ns, uint64_t n,
			    struct err *e);

#endif
