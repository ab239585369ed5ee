/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_timeline_view - the view of dwell heap over time: how much a process held, with
 * marks and the peak.
 */
#ifndef DWELL_CMD_HEAP_TIMELINE_VIEW_H
#define DWELL_CMD_HEAP_TIMELINE_VIEW_H

#include "base/json.h"
#include "cmd/heap_view.h"

/* As heap_table.print. */
must_use int heap_timeline_view_print(const struct heap_view *v, size_t source, FILE *out,
				      struct err *e);
/* Lists beside the course of each process: the marks, and what was in RAM.  The last one
 * is left open. */
must_use int heap_timeline_view_json(const struct heap_view *v, struct json *j,
				     struct err *e);

#endif
