/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_database.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cmd/database_options.h"
#include "cmd/report_text.h"
#include "store/database_query.h"

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static char *said_words(const struct options *o, const char *path)
{
	own(buf_fini) struct buf b = { 0 };

	if (path) {
		buf_u8(&b, ' ');
		report_text_quoted(&b, path);
	}
	database_options_say(o, !path, &b);
	return xstrdup(buf_str(&b));
}

/* In one line, as of a recording; NULL when nothing is damaged. */
static char *damage_of(const struct database_answer *a)
{
	size_t n = a->problems.n;

	if (!n)
		return NULL;
	if (n == 1)
		return xstrdup(a->problems.at[0]);
	return xasprintf("%s; %zu more, which 'dwell db verify' names", a->problems.at[0],
			 n - 1);
}

int report_database_split(struct report_database *d, const struct options *o,
			  size_t *ret_n, struct err *e)
{
	own(database_options_fini) struct database_options chosen = { 0 };
	own(database_answer_fini) struct database_answer a = { .fd = -1 };
	int rc = database_options_take(o, NULL, &chosen, e);
	size_t n = 0, last = SIZE_MAX;

	if (rc == 0)
		rc = database_query_choose(&chosen.query, &a, e);
	if (rc < 0)
		return rc;
	d->epochs = xcalloc(a.n_chosen + 1, sizeof(*d->epochs));
	for (size_t i = 0; i < a.n_chosen; i++) {
		size_t epoch = a.database->segments.at[a.chosen[i]].epoch;

		if (epoch != last)
			d->epochs[n++] = xstrdup(a.database->epochs.at[epoch].path);
		last = epoch;
	}
	*ret_n = n;
	return 0;
}

/* What the recorders of these epochs kept of files' symbols. */
static void add_symbol_dirs(struct report_database *d, const struct database *from)
{
	size_t n = 0;

	while (d->symbol_dirs && d->symbol_dirs[n])
		n++;
	d->symbol_dirs =
		xrealloc(d->symbol_dirs, n + from->epochs.n + 1, sizeof(*d->symbol_dirs));
	for (size_t i = 0; i < from->epochs.n; i++) {
		const struct database_epoch *ep = &from->epochs.at[i];

		if (!i || strcmp(ep->host, ep[-1].host) != 0)
			d->symbol_dirs[n++] =
				xasprintf("%s/../" DATABASE_SYMBOLS, ep->path);
	}
	d->symbol_dirs[n] = NULL;
}

/* path NULL: of --db */
static int open_one(struct report_database *d, size_t i, const struct options *o,
		    const char *path, struct err *e)
{
	own(database_options_fini) struct database_options chosen = { 0 };
	struct database_answer *a = &d->answers[i];
	int rc = database_options_take(o, path, &chosen, e);

	/* They have chosen the epoch already. */
	if (d->epochs)
		chosen.query.hosts = chosen.query.epochs = NULL;
	if (d->epochs)
		chosen.query.label = NULL;
	if (rc == 0)
		rc = database_query_load(&chosen.query, a, e);
	if (rc < 0)
		return rc;
	add_symbol_dirs(d, a->database);
	database_options_tell_range(a);
	d->damage[i] = damage_of(a);
	d->said[i] = !d->epochs ? said_words(o, path)
		     : i	? xstrdup("")
				: said_words(o, NULL);
	return 0;
}

/* Only a database can be selected from. */
static int check_selection(const struct options *o, struct err *e)
{
	own(database_options_fini) struct database_options chosen = { 0 };

	return database_options_take(o, NULL, &chosen, e);
}

int report_database_open(struct report_database *d, const struct options *o,
			 const char **paths, size_t n_paths, struct err *e)
{
	int rc = 0;

	bool has_any = false;

	d->n = n_paths;
	d->answers = xcalloc(n_paths + 1, sizeof(*d->answers));
	d->said = xcalloc(n_paths + 1, sizeof(*d->said));
	d->damage = xcalloc(n_paths + 1, sizeof(*d->damage));
	for (size_t i = 0; i < n_paths && rc == 0; i++) {
		if (paths[i] && !is_directory(paths[i]))
			continue;
		has_any = true;
		rc = open_one(d, i, o, paths[i], e);
		if (rc == 0)
			paths[i] = d->answers[i].path;
	}
	return has_any ? rc : check_selection(o, e);
}

void report_database_fini(struct report_database *d)
{
	for (size_t i = 0; i < d->n; i++) {
		database_answer_fini(&d->answers[i]);
		free(d->said[i]);
		free(d->damage[i]);
	}
	for (size_t i = 0; d->epochs && d->epochs[i]; i++)
		free(d->epochs[i]);
	free(d->epochs);
	for (size_t i = 0; d->symbol_dirs && d->symbol_dirs[i]; i++)
		free(d->symbol_dirs[i]);
	free(d->symbol_dirs);
	free(d->answers);
	free(d->said);
	free(d->damage);
	*d = (struct report_database){ 0 };
}

void report_database_name(const struct report_database *d, const char **paths)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->answers[i].path)
			paths[i] = d->answers[i].name;
}
