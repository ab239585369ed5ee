/* SPDX-License-Identifier: Apache-2.0
 *
 * annotate_source - a function's source lines with their metrics.
 */
#ifndef DWELL_CMD_ANNOTATE_SOURCE_H
#define DWELL_CMD_ANNOTATE_SOURCE_H

#include <stdio.h>

#include "base/buf.h"
#include "cmd/annotate_view.h"

/* A source file cut into lines. */
struct annotate_source {
	const char *file;
	struct buf text;
	char **lines; /* n, without their ends, tabs expanded */
	size_t n;
};

void annotate_source_fini(struct annotate_source *s);
/* False when the file is not at hand; *why tells (NULL allowed). */
bool annotate_source_load(struct annotate_source *s, const struct annotate_view *v,
			  const char *file, struct err *why);
/* Line n (from 1), or "" beyond the end. */
const char *annotate_source_line(const struct annotate_source *s, uint32_t n);

/* Whether any of the function's lines can be shown as text. */
bool annotate_source_is_available(const struct annotate_view *v);
void annotate_source_print(const struct annotate_view *v, FILE *out);
void annotate_source_json(const struct annotate_view *v, struct json *j);

#endif
