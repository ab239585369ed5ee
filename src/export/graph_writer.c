/* SPDX-License-Identifier: Apache-2.0 */
#include "export/graph_writer.h"

#include <string.h>

#define GRAPH_WRITER(stem) extern const struct graph_writer graph_writer_##stem;
#include "export/graph_writers.def"
#undef GRAPH_WRITER

const struct graph_writer *const graph_writers[] = {
#define GRAPH_WRITER(stem) &graph_writer_##stem,
#include "export/graph_writers.def"
#undef GRAPH_WRITER
	NULL,
};

const struct graph_writer *graph_writer_find(const char *name)
{
	for (size_t i = 0; graph_writers[i]; i++)
		if (strcmp(graph_writers[i]->name, name) == 0)
			return graph_writers[i];
	return NULL;
}

int graph_writer_finish(FILE *out, struct err *e)
{
	if (fflush(out) != 0 || ferror(out))
		return err_os(e, "cannot write");
	return 0;
}
