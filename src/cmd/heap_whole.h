/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_whole - the views of dwell heap that know no places: by size and over time.
 */
#ifndef DWELL_CMD_HEAP_WHOLE_H
#define DWELL_CMD_HEAP_WHOLE_H

#include "cmd/heap_view.h"

/* As heap_table.print. */
void heap_whole_sizes(const struct heap_view *v, size_t source, FILE *out);
void heap_whole_timeline(const struct heap_view *v, size_t source, FILE *out);

#endif
