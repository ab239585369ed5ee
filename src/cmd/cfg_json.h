/* SPDX-License-Identifier: Apache-2.0
 *
 * cfg_json - a function's blocks and the ways between them as JSON, for whoever draws
 * them otherwise.
 *
 *	{…, "entry": i, "blocks": [{"index": i, …}], "ways": [{"from": i, "to": i, …}],
 *	 "loops": [{"header": i, …}], "left_out": {…}}
 *
 * An index is that of `dwell calc`, too; without "from" or "to" a way is from or to
 * elsewhere.
 */
#ifndef DWELL_CMD_CFG_JSON_H
#define DWELL_CMD_CFG_JSON_H

#include "base/json.h"
#include "cmd/calc_view.h"
#include "cmd/cfg_choice.h"

/* n_lines: instructions of a block at most; 0: all. */
void cfg_json_print(const struct calc_view *v, const struct cfg_choice *choice,
		    unsigned n_lines, struct json *j);

#endif
