/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/moment.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/db_verb.h"
#include "store/database.h"
#include "store/database_writer.h"

struct compaction {
	struct database_retention retention;
	int64_t now_s;
	unsigned n_merges;
	uint64_t n_removed;
};

static int merge_all(struct database_writer *w, struct compaction *c, struct err *e)
{
	bool did = true;
	int rc = 0;

	while (did && rc == 0) {
		rc = database_writer_merge(w, NULL, c->now_s, &did, e);
		c->n_merges += rc == 0 && did;
	}
	return rc;
}

static int compact_host(const char *path, const char *host, struct compaction *c,
			struct err *e)
{
	own(database_writer_closep) struct database_writer *w = NULL;
	uint64_t n = 0;
	int rc = database_writer_open(path, host, &w, e);

	/* What is to go needs no merging. */
	if (rc == 0 && (c->retention.max_age_s || c->retention.max_bytes))
		rc = database_writer_retain(w, &c->retention, c->now_s, &n, e);
	c->n_removed += n;
	return rc < 0 ? rc : merge_all(w, c, e);
}

static bool is_wanted(const struct options *o, const char *host)
{
	size_t n = options_count(o, "host");

	for (size_t i = 0; i < n; i++)
		if (strcmp(options_at(o, "host", i), host) == 0)
			return true;
	return !n;
}

static int take_retention(const struct options *o, struct compaction *c, struct err *e)
{
	const char *age = options_str(o, "max-age");
	int64_t at = c->now_s;
	int rc = age ? moment_parse(age, c->now_s, &at, e) : 0;

	if (rc < 0)
		return err_in(e, rc, "--max-age");
	if (age && at >= c->now_s)
		return err_set(e, ERR_USAGE,
			       "--max-age %.40s is not in the past: try -30d", age);
	c->retention.max_age_s = age ? c->now_s - at : 0;
	c->retention.max_bytes = options_u64(o, "max-size", 0);
	return 0;
}

static int run(struct options *o, char *const *operands, struct err *e)
{
	own(database_freep) struct database *before = NULL;
	own(database_freep) struct database *after = NULL;
	struct compaction c = { .now_s = time(NULL) };
	char was[TEXT_MAX], is[TEXT_MAX];
	char merges[TEXT_MAX], removed[TEXT_MAX], files[TEXT_MAX];
	int rc = take_retention(o, &c, e);

	if (rc == 0)
		rc = database_open(operands[0], &before, e);
	if (rc == 0 && !before->epochs.n)
		rc = err_set(e, ERR_USAGE, "'%s' has no epochs: it is no database",
			     operands[0]);
	for (size_t i = 0; rc == 0 && i < before->hosts.n; i++)
		if (is_wanted(o, before->hosts.at[i]))
			rc = compact_host(operands[0], before->hosts.at[i], &c, e);
	if (rc == 0)
		rc = database_open(operands[0], &after, e);
	if (rc < 0)
		return rc;
	printf("%s, %s removed: %s in %s, was %s in %zu\n",
	       text_number(merges, c.n_merges, "merges"),
	       text_number(removed, c.n_removed, "segments"),
	       text_size(is, database_bytes(after)),
	       text_number(files, after->segments.n, "files"),
	       text_size(was, database_bytes(before)), before->segments.n);
	return EXIT_OK;
}

const struct db_verb db_compact = {
	.name = "compact",
	.operands = "DATABASE",
	.summary = "merge segments, remove old ones",
	.min_operands = 1,
	.max_operands = 1,
	.run = run,
};
