/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_growth_view - dwell heap --between: what was allocated after a mark and is still
 * there at another one.
 */
#ifndef DWELL_CMD_HEAP_GROWTH_VIEW_H
#define DWELL_CMD_HEAP_GROWTH_VIEW_H

#include <stdio.h>

#include "base/err.h"
#include "base/own.h"
#include "cmd/heap_view.h"

/* Of a view that is loaded. */
must_use int heap_growth_view(const struct heap_view *v, const char *between, FILE *out,
			      struct err *e);

#endif
