/* SPDX-License-Identifier: Apache-2.0
 *
 * top_head - the first lines of a live view: what the machine does, and what watching it
 * takes.
 */
#ifndef DWELL_CMD_TOP_HEAD_H
#define DWELL_CMD_TOP_HEAD_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd/top_view.h"

void top_head_print(const struct top_view *v, bool is_paused, FILE *out);

#endif
