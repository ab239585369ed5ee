/* SPDX-License-Identifier: Apache-2.0
 *
 * help - the commands' tables as text for a terminal, and what manual pages and
 * completions share with it.
 */
#ifndef DWELL_CMD_HELP_H
#define DWELL_CMD_HELP_H

#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"
#include "cmd/command.h"

struct help_group {
	const char *name, *title;
};

/* In the order in which they are shown; ends with .name NULL. */
extern const struct help_group help_groups[];
extern const char help_purpose[]; /* of dwell, one sentence */

void help_overview(FILE *out);
void help_command(const struct command *c, FILE *out);
/* The value of an option as shown ("FILE", "auto|always|never"), NULL for flags. */
const char *help_option_arg(const struct option_spec *s);
/* The sentence about an option, with its choices, unit and default. */
void help_option_text(const struct option_spec *s, struct buf *ret);

#endif
