/* SPDX-License-Identifier: Apache-2.0
 *
 * code_json - what is known of a function's code, as JSON: what the reports about one
 * function have in common.
 *
 * Each writes keys into the object that is open.  What is not known is not there.
 */
#ifndef DWELL_CMD_CODE_JSON_H
#define DWELL_CMD_CODE_JSON_H

#include "base/json.h"
#include "cmd/calc_view.h"

/* Of what is never negative. */
void code_json_known(struct json *j, const char *key, double value);
/* Whose it is, and what is known of all of it. */
void code_json_function(const struct calc_view *v, struct json *j);
void code_json_block(const struct calc_view *v, struct json *j, uint32_t block);
/* But for where it comes from and leads to. */
void code_json_way(const struct calc_view *v, struct json *j, uint32_t way);
void code_json_instruction(const struct calc_view *v, struct json *j, uint32_t step);

#endif
