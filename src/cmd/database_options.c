/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/database_options.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/moment.h"
#include "base/text.h"
#include "cmd/report_text.h"

#define MAX_PROBLEMS 5

static const char *const words[] = {
	"since", "until", "host", "epoch", "label", "image"
};

static int take_time(const struct options *o, const char *name, int64_t *ret,
		     struct err *e)
{
	const char *s = options_str(o, name);
	own(freep) char *where = xasprintf("--%s", name);
	int rc = s ? moment_parse(s, time(NULL), ret, e) : 0;

	return rc < 0 ? err_in(e, rc, where) : 0;
}

int database_options_take(const struct options *o, const char *path,
			  struct database_options *ret, struct err *e)
{
	struct database_options d = { .query.path = path };
	int rc;

	if (!path && options_knows(o, "db"))
		d.query.path = options_str(o, "db");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!d.query.path && options_has(o, words[i]))
			return err_set(e, ERR_USAGE,
				       "--%s is about a database: name it with --db PATH",
				       words[i]);
	rc = take_time(o, "since", &d.query.since_s, e);
	if (rc == 0)
		rc = take_time(o, "until", &d.query.until_s, e);
	if (rc < 0)
		return rc;
	if (d.query.until_s && d.query.until_s <= d.query.since_s)
		return err_set(e, ERR_USAGE, "--until is not after --since");
	d.hosts = options_list(o, "host");
	d.epochs = options_list(o, "epoch");
	d.query.hosts = d.hosts;
	d.query.epochs = d.epochs;
	d.query.label = options_str(o, "label");
	d.query.part.image = options_str(o, "image");
	*ret = d;
	return 0;
}

void database_options_fini(struct database_options *d)
{
	free(d->hosts);
	free(d->epochs);
	*d = (struct database_options){ 0 };
}

static void say_word(struct buf *to, const char *name, const char *value)
{
	own(freep) char *safe = xcalloc(4, strlen(value) + 1);

	buf_printf(to, " --%s ", name);
	report_text_quoted(to, text_printable(safe, 4 * strlen(value) + 1, value));
}

void database_options_say(const struct options *o, bool has_db, struct buf *to)
{
	static const char *const single[] = { "db", "since", "until", "label", "image" };
	static const char *const lists[] = { "host", "epoch" };

	for (size_t i = has_db ? 0 : 1; i < sizeof(single) / sizeof(single[0]); i++)
		if (options_has(o, single[i]))
			say_word(to, single[i], options_str(o, single[i]));
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (size_t k = 0; k < options_count(o, lists[i]); k++)
			say_word(to, lists[i], options_at(o, lists[i], k));
}

static void tell_line(const char *line)
{
	own(freep) char *safe = xcalloc(4, strlen(line) + 1);

	fprintf(stderr, "dwell: %s\n", text_printable(safe, 4 * strlen(line) + 1, line));
}

void database_options_tell_range(const struct database_answer *a)
{
	char from[MOMENT_MAX], to[MOMENT_MAX], cut[TEXT_MAX];

	if (a->n_cut)
		fprintf(stderr,
			"dwell: the range cuts %s, which %s whole: this is %s to %s\n",
			text_number(cut, a->n_cut, "segments"),
			a->n_cut == 1 ? "counts" : "count", moment_text(from, a->from_s),
			moment_text(to, a->to_s));
}

void database_options_tell_damage(const struct database_answer *a)
{
	for (size_t i = 0; i < a->problems.n && i < MAX_PROBLEMS; i++)
		tell_line(a->problems.at[i]);
	if (a->problems.n > MAX_PROBLEMS)
		fprintf(stderr, "dwell: %zu more are damaged: see 'dwell db verify'\n",
			a->problems.n - MAX_PROBLEMS);
}
