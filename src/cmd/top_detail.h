/* SPDX-License-Identifier: Apache-2.0
 *
 * top_detail - one function of a live view: who calls it and what it calls, or its code.
 */
#ifndef DWELL_CMD_TOP_DETAIL_H
#define DWELL_CMD_TOP_DETAIL_H

#include <stdio.h>

#include "cmd/top_view.h"

enum top_detail { TOP_NO_DETAIL, TOP_CALLERS, TOP_CODE };

/* key: as of a row by function.  The first line is its title. */
void top_detail_print(const struct top_view *v, enum top_detail what, const char *key,
		      FILE *out);
/* The key of a function. */
char *top_detail_key(const struct top_view *v, uint32_t function);

#endif
