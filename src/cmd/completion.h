/* SPDX-License-Identifier: Apache-2.0
 *
 * completion - the commands' tables as completion scripts for shells.
 */
#ifndef DWELL_CMD_COMPLETION_H
#define DWELL_CMD_COMPLETION_H

#include <stdio.h>

/* shell: "bash", "fish" or "zsh". */
void completion_write(const char *shell, FILE *out);

#endif
