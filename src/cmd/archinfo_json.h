/* SPDX-License-Identifier: Apache-2.0
 *
 * archinfo_json - what dwell archinfo tells, as JSON.
 *
 * Each row says in "table" what it is a row of.
 */
#ifndef DWELL_CMD_ARCHINFO_JSON_H
#define DWELL_CMD_ARCHINFO_JSON_H

#include <stdio.h>

#include "cmd/archinfo_data.h"

void archinfo_json_print(const struct archinfo_data *d, FILE *out);

#endif
