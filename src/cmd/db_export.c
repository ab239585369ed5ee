/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/database_options.h"
#include "cmd/db_verb.h"

#define EXPORT_LEVEL 9

static void tell(const char *path, const struct tally *t)
{
	char count[TEXT_MAX], safe[500];

	printf("%s: %s\n", text_printable(safe, sizeof(safe), path),
	       text_number(count, tally_n_samples(t), "samples"));
}

static int run(struct options *o, char *const *operands, struct err *e)
{
	own(database_options_fini) struct database_options d = { 0 };
	own(database_answer_fini) struct database_answer a = { .fd = -1 };
	own(tally_freep) struct tally *t = tally_new();
	const char *output = options_str(o, "output");
	const struct tally_write_options how = { .level = EXPORT_LEVEL };
	int rc;

	if (!output)
		return err_set(e, ERR_USAGE, "say where to: -o FILE.dwell");
	rc = database_options_take(o, operands[0], &d, e);
	if (rc == 0)
		rc = database_query_tally(&d.query, t, &a, e);
	if (rc == 0)
		rc = tally_write(t, output, &how, e);
	if (rc < 0)
		return rc;
	database_options_tell_range(&a);
	database_options_tell_damage(&a);
	tell(output, t);
	return a.problems.n ? EXIT_ERROR : EXIT_OK;
}

const struct db_verb db_export = {
	.name = "export",
	.operands = "-o FILE.dwell DATABASE",
	.summary = "write a part as one recording",
	.min_operands = 1,
	.max_operands = 1,
	.run = run,
};
