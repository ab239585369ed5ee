/* SPDX-License-Identifier: Apache-2.0
 *
 * annotate_code - a function's instructions with their metrics.
 */
#ifndef DWELL_CMD_ANNOTATE_CODE_H
#define DWELL_CMD_ANNOTATE_CODE_H

#include <stdio.h>

#include "cmd/annotate_view.h"

/* with_source: each run of instructions below the line it is from. */
void annotate_code_print(const struct annotate_view *v, bool with_source, FILE *out);
void annotate_code_json(const struct annotate_view *v, struct json *j);

#endif
