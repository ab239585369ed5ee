/* SPDX-License-Identifier: Apache-2.0
 *
 * graph_writer - the formats in which graphs are drawn.
 *
 * Each is one file that exports one const struct, and one line in graph_writers.def.
 */
#ifndef DWELL_EXPORT_GRAPH_WRITER_H
#define DWELL_EXPORT_GRAPH_WRITER_H

#include <stdio.h>

#include "base/err.h"
#include "base/own.h"
#include "export/graph.h"

struct graph_writer {
	const char *name, *suffix, *mime, *summary;
	/* Writes to out and leaves it open; a graph without nodes is an empty picture. */
	int (*write)(const struct graph *g, FILE *out, struct err *e);
};

/* NULL-terminated, in the order of graph_writers.def. */
extern const struct graph_writer *const graph_writers[];

const struct graph_writer *graph_writer_find(const char *name); /* NULL: none */
/* What a failed write to the stream becomes; 0 when none failed. */
must_use int graph_writer_finish(FILE *out, struct err *e);

#endif
