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
	size_t limit; /* of rows to print; 0: all */
};

/* Prints one recording, the newest if none is named, which has basic blocks; damage that
 * was read around is an error in the end. */
must_use int code_rows_run(const struct options *o,
			   void (*print_json)(const struct code_rows *c),
			   void (*print_table)(const struct code_rows *c), struct err *e);
/* The function's name, with the image's behind it. */
void code_rows_function(const struct code_rows *c, struct table *t, uint32_t function);
/* The same for JSON: "key": {"name": …, "image": …}. */
void code_rows_json_function(const struct code_rows *c, struct json *j, const char *key,
			     uint32_t function);
/* How many of n rows are shown. */
size_t code_rows_shown(const struct code_rows *c, size_t n);
/* Prints it, and how many rows of so many were left out. */
void code_rows_print(const struct code_rows *c, const struct table *t, size_t n);

#endif
