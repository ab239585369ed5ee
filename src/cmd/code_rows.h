/* SPDX-License-Identifier: Apache-2.0
 *
 * code_rows - what the commands about basic blocks have in common.
 */
#ifndef DWELL_CMD_CODE_ROWS_H
#define DWELL_CMD_CODE_ROWS_H

#include "analyze/code_graph.h"
#include "base/json.h"
#include "base/table.h"
#include "cmd/report_profile.h"

extern const struct option_spec code_rows_options[];

struct code_rows {
	struct report report;
	struct code_graph graph;
	size_t limit; /* of rows to print */
};

/* One recording, the newest if none is named, which has basic blocks. */
must_use int code_rows_open(struct code_rows *c, const struct options *o, struct err *e);
void code_rows_close(struct code_rows *c);
/* The function's name, with the image's behind it. */
void code_rows_function(const struct code_rows *c, struct table *t, uint32_t function);
/* The same for JSON: "key": {"name": …, "image": …}. */
void code_rows_json_function(const struct code_rows *c, struct json *j, const char *key,
			     uint32_t function);
/* How many of n rows are shown: in JSON all. */
size_t code_rows_shown(const struct code_rows *c, size_t n);
/* Prints it, and how many rows of so many were left out. */
void code_rows_print(const struct code_rows *c, const struct table *t, size_t n);
/* How it ends: damage that was read around is an error. */
must_use int code_rows_finish(const struct code_rows *c, struct err *e);

#endif
