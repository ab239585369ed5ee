/* SPDX-License-Identifier: Apache-2.0
 *
 * list_file - what of a file can be probed: the probes that it has, and its functions.
 */
#ifndef DWELL_CMD_LIST_FILE_H
#define DWELL_CMD_LIST_FILE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/own.h"

/* name: a path or the name of a program.  patterns: of names, as shells write them, or
 * parts of names; those that any fits, none: all. */
must_use int list_file_print(const char *name, char *const *patterns, int n_patterns,
			     bool is_json, struct err *e);

#endif
