/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_profile.h"

#include <errno.h>
#include <glob.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyze/listing.h"
#include "analyze/metrics.h"
#include "analyze/names.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/name_to_type.h"
#include "cmd/output_file.h"
#include "cmd/report_database.h"
#include "cmd/report_value.h"

#define MANY_NEAR  3  /* names that may be meant */
#define NEAR_WIDTH 40 /* of each */

const struct report_rows report_profile_of_code = { .is_of_code = true };

static void newest_recording(char **ret)
{
	time_t newest = 0;
	glob_t found;

	if (glob("*.dwell", 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct stat st;

		if (stat(found.gl_pathv[i], &st) != 0 || !S_ISREG(st.st_mode) ||
		    (*ret && st.st_mtime <= newest))
			continue;
		newest = st.st_mtime;
		free(*ret);
		*ret = xstrdup(found.gl_pathv[i]);
	}
	globfree(&found);
}

/* Nothing but files is what it is; the rest is loaded. */
static int open_databases(struct report *r, const struct options *o, struct err *e)
{
	if (!r->database)
		r->database = xcalloc(1, sizeof(*r->database));
	return report_database_open(r->database, o, r->paths, r->n_paths, e);
}

/* The epochs of --db, to be compared. */
static int choose_epochs(struct report *r, const struct options *o, struct err *e)
{
	int rc;

	r->database = xcalloc(1, sizeof(*r->database));
	rc = report_database_split(r->database, o, &r->n_paths, e);
	if (rc < 0)
		return rc;
	free(r->paths);
	r->paths = xcalloc(r->n_paths + 2, sizeof(*r->paths));
	for (size_t i = 0; i < r->n_paths; i++)
		r->paths[i] = r->database->epochs[i];
	return open_databases(r, o, e);
}

static int choose_paths(struct report *r, const struct options *o, char *const *files,
			bool is_compared, struct err *e)
{
	const char *db = options_str(o, "db");
	size_t n = 0;

	while (files[n])
		n++;
	r->paths = xcalloc(n + 2, sizeof(*r->paths));
	for (size_t i = 0; i < n; i++)
		r->paths[i] = files[i];
	r->n_paths = n;
	if (db && n)
		return err_set(e, ERR_USAGE,
			       "--db and a recording: name the database as a recording "
			       "to read both");
	if (db && is_compared)
		return choose_epochs(r, o, e);
	if (db)
		r->n_paths = 1;
	if (r->n_paths)
		return open_databases(r, o, e);
	newest_recording(&r->newest);
	if (!r->newest)
		return err_set(e, ERR_USAGE,
			       "no recording (*.dwell) here: make one with 'dwell run -- "
			       "COMMAND', or name a file");
	r->paths[r->n_paths++] = r->newest;
	return open_databases(r, o, e);
}

static int take_pct(const struct options *o, const char *name, double *ret, struct err *e)
{
	const char *s = options_str(o, name);

	return s ? report_value_parse_pct(s, ret, e) : 0;
}

static int take_ranking(struct report *r, const struct options *o,
			const struct report_rows *rows, struct err *e)
{
	int rc;

	r->ranking.min_pct = r->json ? 0 : rows->min_pct;
	r->ranking.limit = options_u64(o, "limit", r->json ? 0 : rows->limit);
	rc = take_pct(o, "min", &r->ranking.min_pct, e);
	if (rc < 0 || !options_knows(o, "cumulative"))
		return rc;
	if (!options_has(o, "limit") && options_has(o, "cumulative"))
		r->ranking.limit = 0;
	return take_pct(o, "cumulative", &r->ranking.cumulative, e);
}

static int find_column(const struct report *r, const char *event, size_t *ret,
		       struct err *e)
{
	for (size_t i = 0; i < profile_n_columns(r->profile); i++) {
		if (strcmp(profile_column(r->profile, i)->name, event) != 0)
			continue;
		*ret = i;
		return 0;
	}
	return err_set(e, ERR_USAGE, "no event '%.80s' to sort by", event);
}

/* The keys in words: "exclusive, inclusive, name". */
static void list_orders(const char *const *orders, char *text, size_t cap)
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; orders[i] && at + 1 < cap; i++)
		at += (size_t)snprintf(text + at, cap - at, "%s%s", i ? ", " : "",
				       orders[i]);
}

/* Rows that are ordered by an event for which there is no room would be in no order. */
static void show_first(struct report *r, size_t column)
{
	size_t i = 0;

	while (i < r->n_shown && r->shown[i] != column)
		i++;
	if (i == r->n_shown) {
		/* Beside a whole, its parts are shown. */
		if (profile_column(r->profile, column)->whole != MODEL_NONE)
			return;
		r->n_shown++;
	}
	for (; i > 0; i--)
		r->shown[i] = r->shown[i - 1];
	r->shown[0] = column;
}

static int take_sort(struct report *r, const struct options *o, const char *const *orders,
		     struct err *e)
{
	const char *key = options_str(o, "sort");
	size_t n = key ? strcspn(key, ":") : 0;
	unsigned i = 0;
	char known[200];

	if (!key)
		return 0;
	while (orders[i] && (strlen(orders[i]) != n || strncmp(key, orders[i], n) != 0))
		i++;
	if (!orders[i]) {
		list_orders(orders, known, sizeof(known));
		return err_set(e, ERR_USAGE, "cannot sort by '%.40s': %s", key, known);
	}
	r->order = i;
	r->has_order = true;
	if (!key[n])
		return 0;

	int rc = find_column(r, key + n + 1, &r->sort_column, e);

	if (rc == 0)
		show_first(r, r->sort_column);
	return rc;
}

/* Recordings are made for their owner's eyes: whoever else tries is told whose. */
static int tell_owner(const struct report *r, int rc, struct err *e)
{
	for (size_t i = 0; i < r->n_paths; i++) {
		const struct passwd *owner;
		struct stat st;

		if (access(r->paths[i], R_OK) == 0 || stat(r->paths[i], &st) != 0)
			continue;
		owner = getpwuid(st.st_uid);
		if (owner && st.st_uid != geteuid())
			return err_set(e, rc,
				       "cannot open '%s': permission denied: it is %s's "
				       "(mode %03o)",
				       r->paths[i], owner->pw_name,
				       (unsigned)st.st_mode & 0777);
	}
	return rc;
}

/* Recordings side by side have the same columns even where one has nothing. */
static bool has_weight(const struct profile *p, const struct profile_column *c)
{
	for (size_t i = 0; i < profile_n_columns(p); i++) {
		const struct profile_column *other = profile_column(p, i);

		if (other->total_weight && strcmp(other->name, c->name) == 0)
			return true;
	}
	return false;
}

bool report_profile_is_aside(const struct report *r, size_t column)
{
	const struct profile_column *c = profile_column(r->profile, column);
	const struct recording *of = profile_source(r->profile, c->source);

	return !(r->events && r->events[0]) && c->source_event < recording_n_events(of) &&
	       recording_event(of, c->source_event)->flags & EVENT_ASIDE;
}

bool report_profile_leaves_counts_out(const struct report *r)
{
	bool has_counts = false;

	for (size_t i = 0; i < profile_n_sources(r->profile); i++)
		has_counts |= recording_n_basic_blocks(profile_source(r->profile, i)) > 0;
	for (size_t i = 0; has_counts && i < profile_n_columns(r->profile); i++)
		if (recording_n_basic_blocks(profile_source(
			    r->profile, profile_column(r->profile, i)->source)))
			return false;
	return has_counts;
}

static void choose_columns(struct report *r)
{
	size_t n = profile_n_columns(r->profile);

	r->shown = xcalloc(n + 1, sizeof(*r->shown));
	for (size_t i = 0; i < n; i++) {
		const struct profile_column *c = profile_column(r->profile, i);

		if (c->whole == MODEL_NONE && !report_profile_is_aside(r, i) &&
		    has_weight(r->profile, c))
			r->shown[r->n_shown++] = i;
	}
	if (!r->n_shown && n)
		r->n_shown = 1;
	r->sort_column = r->shown[0];
	for (size_t i = r->n_shown; i-- > 0;)
		if (profile_column(r->profile, r->shown[i])->total_weight)
			r->sort_column = r->shown[i];
}

int report_profile_clock(const struct options *o, double *ret, struct err *e)
{
	const char *text = options_str(o, "clock");
	char *end;

	if (!text)
		return 0;
	*ret = strtod(text, &end);
	if (*end || !(*ret >= 0.001 && *ret <= 1000))
		return err_set(e, ERR_USAGE, "--clock %.40s is no clock in GHz", text);
	return 0;
}

static int load(struct report *r, const struct options *o, const struct report_rows *rows,
		struct err *e)
{
	bool is_worked_out = options_knows(o, "model") && !(rows && rows->is_of_code);
	struct profile_options p = {
		.filter = r->filter,
		.events = r->events,
		.experiment = rows ? rows->experiment : NULL,
		.no_inline = options_has(o, "no-inline"),
		.is_compared = rows && rows->is_compared,
		.no_guess = options_knows(o, "no-guess") && options_has(o, "no-guess"),
		.is_worked_out = is_worked_out,
		.is_for_code = rows && rows->has_code,
		.model = is_worked_out ? options_str(o, "model") : NULL,
		.sym = &r->sym
	};
	own(freep) const char **names = xcalloc(r->n_paths + 1, sizeof(*names));
	int rc = is_worked_out ? report_profile_clock(o, &p.clock_ghz, e) : 0;

	if (rc < 0)
		return rc;

	for (size_t i = 0; i < r->n_paths; i++)
		names[i] = r->paths[i];
	if (r->database)
		report_database_name(r->database, names);
	p.names = names;

	r->sym.debug_dirs = r->debug_dirs;
	if (r->database)
		r->sym.symbol_dirs = (const char *const *)r->database->symbol_dirs;
	r->sym.sysroot = options_str(o, "sysroot");
	r->sym.keep_mangled = options_has(o, "mangled");
	r->sym.no_debuginfod = options_has(o, "no-debuginfod");
	rc = profile_load(r->paths, r->n_paths, &p, &r->profile, e);
	if (rc < 0)
		return e->os == EACCES ? tell_owner(r, rc, e) : rc;
	if (r->database)
		report_database_name(r->database, r->paths);
	quality_measure(&r->quality, r->profile);
	for (size_t i = 0; r->database && i < r->n_paths; i++)
		if (r->database->damage[i])
			r->quality.sources[i].damage = r->database->damage[i];
	choose_columns(r);
	return 0;
}

int report_profile_open(const struct options *o, char *const *files,
			const struct report_rows *rows, struct report *ret, struct err *e)
{
	struct report r = {
		.events = options_list(o, "event"),
		.debug_dirs = options_list(o, "debug-dir"),
		.filter = options_str(o, "filter"),
		.width = command_terminal()->width,
	};
	int rc;

	output_file_allow_failure();
	/* Exports and archives read a profile but print no report, and pictures have no
	 * columns. */
	r.json = options_knows(o, "json") && options_has(o, "json");
	if (options_knows(o, "width"))
		r.width = (unsigned)options_u64(o, "width", r.width);
	rc = choose_paths(&r, o, files, rows && rows->is_compared, e);

	if (rc == 0 && rows && rows->orders)
		rc = take_ranking(&r, o, rows, e);
	if (rc == 0)
		rc = load(&r, o, rows, e);
	if (rc == 0 && rows && rows->orders)
		rc = take_sort(&r, o, rows->orders, e);
	if (rc < 0) {
		report_profile_close(&r);
		return rc;
	}
	*ret = r;
	return 0;
}

void report_profile_close(struct report *r)
{
	quality_fini(&r->quality);
	profile_free(r->profile);
	free(r->events);
	free(r->debug_dirs);
	free(r->paths);
	free(r->newest);
	if (r->database)
		report_database_fini(r->database);
	free(r->database);
	free(r->shown);
	*r = (struct report){ 0 };
}

bool report_profile_is_file(const char *operand)
{
	size_t n = strlen(operand);
	struct stat st;

	return (n > 6 && strcmp(operand + n - 6, ".dwell") == 0) ||
	       (strchr(operand, '/') && stat(operand, &st) == 0);
}

/* The first operand, which a recording may follow. */
static int take_function(const struct options *o, const char *command, const char **ret,
			 struct err *e)
{
	char *const *operands = options_argv(o);
	char file[200], function[100];

	if (!operands[0] || (!operands[1] && report_profile_is_file(operands[0])))
		return err_set(e, ERR_USAGE,
			       "name a function: dwell %s FUNCTION [RECORDING…]",
			       command);
	if (operands[1] && report_profile_is_file(operands[0]) &&
	    !report_profile_is_file(operands[1]))
		return err_set(e, ERR_USAGE, "the function comes first: dwell %s %s %s",
			       command,
			       text_printable(function, sizeof(function), operands[1]),
			       text_printable(file, sizeof(file), operands[0]));
	*ret = operands[0];
	return 0;
}

/* "'solve', 'solver::run' or 'resolve'": what a misspelt name may mean; or nothing. */
static void put_near(const struct profile *p, const char *name, struct buf *to)
{
	own(freep) uint32_t *near = NULL;
	size_t n = listing_near(p, name, &near);

	for (size_t i = 0; i < n && i < MANY_NEAR; i++) {
		own(freep) char *typed = name_to_type(p, near[i], NEAR_WIDTH);
		bool is_last = i + 1 == n || i + 1 == MANY_NEAR;

		buf_printf(to, "%s'%s'", !i ? "" : is_last ? " or " : ", ", typed);
	}
}

int report_profile_check_whole(const struct report *r, struct err *e)
{
	for (size_t i = 0; i < r->quality.n_sources; i++) {
		const struct quality_source *q = &r->quality.sources[i];
		const char *why = q->damage ? q->damage : q->bad_block;

		if (q->damage || q->n_bad_blocks)
			return err_set(e, ERR_FORMAT,
				       "%.200s: %.200s; what could be read was written",
				       r->paths[i], why ? why : "damaged");
	}
	return 0;
}

/* Nobody has named the newest one, which may be another than was thought of. */
static void put_recording(const struct report *r, const char *others, struct buf *to)
{
	char file[200];

	if (r->newest)
		buf_printf(to, "'%s', the newest recording",
			   text_printable(file, sizeof(file), r->newest));
	else
		buf_puts(to, others);
}

static int no_function(const struct report *r, const char *name, struct err *e)
{
	own(buf_fini) struct buf near = { 0 }, where = { 0 };

	if (quality_is_damaged(&r->quality)) {
		put_recording(r, "the damaged recording", &where);
		return err_set(e, ERR_FORMAT,
			       "no function '%.100s' in what could be read of %s", name,
			       buf_str(&where));
	}
	put_recording(r, "the profile", &where);
	put_near(r->profile, name, &near);
	if (near.size)
		return err_set(e, ERR_USAGE,
			       "no function '%.100s' in %s: did you mean %s?", name,
			       buf_str(&where), buf_str(&near));
	return err_set(e, ERR_USAGE,
		       "no function '%.100s' in %s ('dwell report' lists them)", name,
		       buf_str(&where));
}

int report_profile_find_function(const struct report *r, const char *name,
				 struct report_function *ret, struct err *e)
{
	const size_t cap = sizeof(ret->others);
	own(freep) uint32_t *found = NULL;
	size_t n = listing_find(r->profile, name, &found), at = 0;

	ret->others[0] = '\0';
	if (!n)
		return no_function(r, name, e);
	ret->id = found[0];
	for (size_t i = 1; i < n && i < 4 && at + 1 < cap; i++) {
		const struct profile_function *f = profile_function(r->profile, found[i]);
		char safe[120];

		names_shorten(safe, sizeof(safe), f->label, 40);
		at += (size_t)snprintf(ret->others + at, cap - at, "%s%s (%s)",
				       i > 1 ? ", " : "", safe, f->image);
	}
	if (n > 4 && at + 1 < cap)
		snprintf(ret->others + at, cap - at, " and %zu more", n - 4);
	return 0;
}

/* Of this column, or of another recording's that is called so. */
static bool has_event(const struct report *r, const struct metrics_butterfly *b,
		      size_t column)
{
	const char *name = profile_column(r->profile, column)->name;

	for (size_t i = 0; i < b->n_columns; i++)
		if (b->inclusive[i] &&
		    strcmp(profile_column(r->profile, i)->name, name) == 0)
			return true;
	return false;
}

void report_profile_show_events_of(struct report *r, uint32_t function)
{
	struct metrics_butterfly b;
	size_t n = 0;

	if (r->n_shown < 2)
		return;
	metrics_attribute(&b, r->profile, function);
	for (size_t i = 0; i < r->n_shown; i++)
		if (has_event(r, &b, r->shown[i]))
			r->shown[n++] = r->shown[i];
	metrics_butterfly_fini(&b);
	if (!n || n == r->n_shown)
		return;
	r->n_shown = n;
	r->leaves_events_out = true;
	if (!r->has_order)
		r->sort_column = r->shown[0];
}

int report_profile_open_function(const struct options *o, const char *command,
				 const struct report_rows *rows, struct report *ret,
				 struct report_function *f, struct err *e)
{
	const char *name;
	int rc = take_function(o, command, &name, e);

	if (rc == 0)
		rc = report_profile_open(o, options_argv(o) + 1, rows, ret, e);
	if (rc == 0)
		rc = report_profile_find_function(ret, name, f, e);
	if (rc == 0)
		report_profile_show_events_of(ret, f->id);
	return rc;
}
