/* SPDX-License-Identifier: Apache-2.0
 *
 * manpage - the commands' tables as manual pages in mdoc.
 */
#ifndef DWELL_CMD_MANPAGE_H
#define DWELL_CMD_MANPAGE_H

#include <stdio.h>

struct command;

/* dwell-NAME(1), or dwell(1) when c is NULL. */
void manpage_write(const struct command *c, FILE *out);

#endif
