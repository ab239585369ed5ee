/* SPDX-License-Identifier: Apache-2.0
 *
 * archinfo_text - what dwell archinfo tells, as tables for people.
 */
#ifndef DWELL_CMD_ARCHINFO_TEXT_H
#define DWELL_CMD_ARCHINFO_TEXT_H

#include <stdio.h>

#include "cmd/archinfo_data.h"

void archinfo_text_print(const struct archinfo_data *d, FILE *out);

#endif
