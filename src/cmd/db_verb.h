/* SPDX-License-Identifier: Apache-2.0
 *
 * db_verb - what 'dwell db' can do: one const struct per verb, listed in db.c.
 */
#ifndef DWELL_CMD_DB_VERB_H
#define DWELL_CMD_DB_VERB_H

#include "base/err.h"
#include "cmd/option.h"

struct db_verb {
	const char *name;
	const char *operands; /* "DATABASE" */
	const char *summary;
	unsigned min_operands, max_operands;
	/* operands: behind the verb, NULL-terminated. */
	int (*run)(struct options *o, char *const *operands, struct err *e);
};

extern const struct db_verb db_ls, db_verify, db_compact, db_export, db_merge;

#endif
