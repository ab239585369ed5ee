/* SPDX-License-Identifier: Apache-2.0
 *
 * code_places - where in the code of files is what a user calls by name.
 *
 * Finding takes symbols, which recording knows nothing of.
 */
#ifndef DWELL_CMD_CODE_PLACES_H
#define DWELL_CMD_CODE_PLACES_H

#include "base/err.h"
#include "base/own.h"
#include "collect/trigger.h"

/* A trigger_find_fn. */
must_use int code_places_find(const struct trigger_wish *wish, struct trigger_code *ret,
			      struct err *e);
/* The file that is meant: a path, or a program's name. */
must_use int code_places_file(const char *name, char ret[PATH_MAX], struct err *e);

#endif
