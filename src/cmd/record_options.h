/* SPDX-License-Identifier: Apache-2.0
 *
 * record_options - what `dwell run` and `dwell attach` have in common.
 */
#ifndef DWELL_CMD_RECORD_OPTIONS_H
#define DWELL_CMD_RECORD_OPTIONS_H

#include "base/err.h"
#include "base/own.h"
#include "cmd/option.h"
#include "collect/session.h"

extern const struct option_spec record_options[];

/* Fills experiments, times and the file; the rest is the command's. */
must_use int record_options_take(const struct options *o, struct session_settings *ret,
				 struct err *e);
/* And this one beside them, where it can be. */
must_use int record_options_suppose(const char *experiment, struct session_settings *x,
				    struct err *e);
/* Dry run, or record and print what came of it.  Returns an exit code or a negative
 * enum err_code. */
int record_options_run(const struct options *o, const struct session_settings *settings,
		       struct err *e);

#endif
