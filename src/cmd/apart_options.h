/* SPDX-License-Identifier: Apache-2.0
 *
 * apart_options - --per-process, --per-thread, --per-cpu: what commands tell apart.
 */
#ifndef DWELL_CMD_APART_OPTIONS_H
#define DWELL_CMD_APART_OPTIONS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "cmd/option.h"
#include "collect/apart.h"

struct path_choice;

/* Those that the command's table has, if any was given; *ret_chosen is the caller's to
 * free, and lives as long as *ret. */
must_use int apart_options_take(const struct options *o, struct apart *ret,
				struct path_choice **ret_chosen, struct err *e);
/* "processes of cc1,ld; CPUs"; "": nothing. */
void apart_options_describe(const struct apart *a, struct buf *ret);

#endif
