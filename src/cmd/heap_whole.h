/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_whole - the view of dwell heap that knows no places: by size and by lifetime.
 */
#ifndef DWELL_CMD_HEAP_WHOLE_H
#define DWELL_CMD_HEAP_WHOLE_H

#include "cmd/heap_view.h"

/* As heap_table.print. */
must_use int heap_whole_sizes(const struct heap_view *v, size_t source, FILE *out,
			      struct err *e);

#endif
