/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/sync_view.h"

#include <inttypes.h>
#include <string.h>

#include "analyze/sync_rows.h"
#include "analyze/waits.h"
#include "base/text.h"
#include "cmd/report_options.h"
#include "cmd/report_text.h"
#include "cmd/rows_path.h"
#include "cmd/rows_unfinished.h"

#define PATH_FRAMES 4  /* of a stack below a row; the innermost */
#define INDENT	    10 /* of what is told of a wait, behind how long it is */

/* By what sync_rows_make() knows, in its order. */
static const struct rows_by bys[] = {
	[SYNC_ROWS_BY_LOCK] = { "lock", "What", 0 },
	[SYNC_ROWS_BY_STACK] = { "stack", "Who waits", 0 },
	[SYNC_ROWS_BY_HOLDER] = { "holder", "Who let others wait", 0 },
	[SYNC_ROWS_BY_THREAD] = { "thread", "Thread", 0 },
	[SYNC_ROWS_N_BYS] = { NULL, NULL, 0 },
};

static const struct rows_key keys[] = {
	{ "time", offsetof(struct sync_row, sums.ns), NULL },
	{ NULL, 0, NULL },
};

static uint64_t longest(unused const struct rows_view *v, const void *row)
{
	return power_steps_below(&((const struct sync_row *)row)->sums.steps);
}

static uint64_t average(unused const struct rows_view *v, const void *row)
{
	const struct sync_sums *s = &((const struct sync_row *)row)->sums;

	return s->n ? s->ns / s->n : 0;
}

static const char *name_of(unused const struct rows_view *v, const void *row)
{
	return ((const struct sync_row *)row)->name;
}

static void put_name(const struct rows_view *v, const void *row, struct rows_word *ret)
{
	buf_puts(&ret->text, name_of(v, row));
}

static void put_what(unused const struct rows_view *v, const void *row,
		     struct rows_word *ret)
{
	buf_puts(&ret->text, ((const struct sync_row *)row)->what);
}

static void put_is_lock(unused const struct rows_view *v, const void *row, struct json *j)
{
	json_key_bool(j, "is_lock", ((const struct sync_row *)row)->is_lock);
}

static struct rows_path path_of(const struct sync_path *path)
{
	return (struct rows_path){ path->frames, path->n_frames };
}

/* Without what the C library does within the call, as wrappers have it: where the kernel
 * saw the wait that would take all the room. */
static struct rows_path call_of(const struct rows_view *v, const struct sync_path *path)
{
	size_t n = waits_layers(v->report.profile, path->frames, path->n_frames);

	return (struct rows_path){ path->frames + n, path->n_frames - n };
}

static void put_list(const struct rows_view *v, const char *key, const sync_paths *paths,
		     struct json *j)
{
	json_key(j, key);
	json_array(j);
	vec_each(x, paths) {
		const struct rows_path path = path_of(x);

		json_object(j);
		json_key_u64(j, "waits", x->n);
		json_key_u64(j, "ns", x->ns);
		rows_path_json(j, &v->report, &path);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_lists(const struct rows_view *v, const void *row, struct json *j)
{
	const struct sync_row *r = row;

	put_list(v, "waiters", &r->waiters, j);
	put_list(v, "holders", &r->holders, j);
}

/* Of the path with most time.  The name of a row is the first frame of its own. */
static void put_path(const struct rows_view *v, const char *words,
		     const sync_paths *paths, bool is_own, size_t n_paths, struct buf *b)
{
	struct rows_path path;

	if (!paths->n)
		return;
	path = call_of(v, &paths->at[0]);
	if (is_own && path.n_frames < 2)
		return;
	buf_puts(b, b->size ? "; " : "");
	rows_path_text(b, &v->report, &path, is_own ? "" : words, is_own, PATH_FRAMES,
		       n_paths);
}

static void put_paths(const struct rows_view *v, const void *row, struct buf *b)
{
	const struct sync_row *r = row;
	const char *held = r->is_lock ? "held by " : "woken by ";
	bool is_holder = v->by == SYNC_ROWS_BY_HOLDER;
	size_t n = 1 + (r->holders.n > 0);

	if (is_holder)
		put_path(v, held, &r->holders, true, n, b);
	put_path(v, "waits in ", &r->waiters, v->by == SYNC_ROWS_BY_STACK, n, b);
	if (!is_holder)
		put_path(v, held, &r->holders, false, n, b);
}

static const struct rows_column columns[] = {
	{ .title = "Time",
	  .key = "ns",
	  .unit = "ns",
	  .at = offsetof(struct sync_row, sums.ns) },
	{ .title = "Longest\nbelow", .unit = "ns", .number = longest },
	{ .title = "Waits",
	  .key = "waits",
	  .unit = "count",
	  .at = offsetof(struct sync_row, sums.n) },
	{ .title = "Average", .unit = "ns", .number = average },
	{ .title = "Kind", .key = "kind", .share = 1, .word = put_what },
	{ .title = "What", .key = "name", .share = 4, .is_name = true, .word = put_name },
	{ .json = put_is_lock },
	{ .title = "Time that a wait took",
	  .key = "durations_ns",
	  .unit = "ns",
	  .is_steps = true,
	  .at = offsetof(struct sync_row, sums.steps) },
	{ .json = put_lists },
	{ .title = NULL },
};

/* Locks first. */
static int compare(const struct rows_view *v, const void *x, const void *y)
{
	bool m = ((const struct sync_row *)x)->is_lock;
	bool n = ((const struct sync_row *)y)->is_lock;

	return m != n ? n - m : rows_view_compare(v, x, y);
}

static int load(struct rows_view *v, struct err *e)
{
	struct sync_rows *sync = v->of;
	int rc = sync_rows_make(v->report.profile, (enum sync_rows_by)v->by, sync, e);
	size_t n_locks = 0;

	if (rc < 0)
		return rc;
	if (!sync->has_sync)
		return rows_view_missing(v, e);
	rows_view_take(v, sync->rows.at, sync->rows.n, sizeof(*sync->rows.at));
	vec_each(row, &sync->rows)
		n_locks += row->is_lock;
	if (sync->locks.sums.n || n_locks)
		rows_view_part(v, "Locks that others held", &sync->locks, n_locks);
	if (sync->others.sums.n || n_locks < sync->rows.n)
		rows_view_part(
			v,
			"Conditions, semaphores, barriers, futexes and ends of threads",
			&sync->others, sync->rows.n - n_locks);
	return 0;
}

/* "12.0 s  worker (18), for mutex queue, since 3.20 ms, held by thread 17" and its stack.
 */
static void print_one_unfinished(const struct rows_view *v,
				 const struct sync_unfinished *u, FILE *out)
{
	own(buf_fini) struct buf b = { 0 }, path = { 0 };
	char ns[TEXT_MAX];
	const struct rows_path frames = call_of(v, &u->path);

	rows_unfinished_who(&b, u->thread, u->n);
	buf_printf(&b, ", for %s", u->what);
	if (*u->name != '[' || text_starts(u->name, "[0x")) {
		buf_puts(&b, " ");
		report_text_safe(&b, u->name);
	}
	rows_unfinished_since(&b, u->since_ns, u->n);
	if (u->holder) {
		buf_puts(&b, ", held by ");
		report_text_safe(&b, u->holder);
	}
	rows_path_text(&path, &v->report, &frames, "waits in ", false, PATH_FRAMES, 1);
	fprintf(out, "%*s  ", INDENT - 2, text_duration(ns, u->ns));
	report_text_indented(&v->report, INDENT, &b, out);
	fprintf(out, "%*s", INDENT, "");
	report_text_indented(&v->report, INDENT, &path, out);
}

static void print_unfinished(const struct rows_view *v, FILE *out)
{
	const struct sync_rows *sync = v->of;
	size_t n = sync->unfinished.n, shown = report_options_shown(v->limit, n);

	if (!n)
		return;
	fprintf(out, "\nWaits that had not ended\n\n");
	for (size_t i = 0; i < shown; i++)
		print_one_unfinished(v, &sync->unfinished.at[i], out);
	report_text_more(n - shown, out);
}

static void print_short(const struct rows_view *v, FILE *out)
{
	struct sync_short s = sync_rows_short(v->report.profile);
	char threshold[TEXT_MAX], n[TEXT_MAX], ns[TEXT_MAX];
	own(buf_fini) struct buf b = { 0 };

	if (!s.n)
		return;
	buf_printf(&b, "%s shorter than %s, %s together, %s only counted",
		   text_number(n, s.n, "waits"), text_duration(threshold, s.threshold_ns),
		   text_duration(ns, s.ns), s.n == 1 ? "was" : "were");
	report_text_apart(&v->report, &b, out);
}

static void print_because(const struct rows_view *v, const char *what, const char *why,
			  FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	if (!why)
		return;
	buf_printf(&b, "%s: ", what);
	report_text_safe(&b, why);
	report_text_apart(&v->report, &b, out);
}

/* What the kernel alone sees, and of a process that ran already what is not wrapped
 * there. */
static void print_unseen(const struct rows_view *v, FILE *out)
{
	const struct profile *p = v->report.profile;
	const char *wrapped = sync_rows_note(p, SYNC_ROWS_WRAPPED);
	own(buf_fini) struct buf b = { 0 };

	if (wrapped) {
		buf_printf(&b, "Conditions, semaphores, barriers and ends of threads %s",
			   strcmp(wrapped, "locks") != 0
				   ? "were not observed"
				   : "are as the kernel sees them: who found that there "
				     "was nothing to wait for is not there");
		report_text_apart(&v->report, &b, out);
	}
	print_because(v,
		      "Waits that do not go through the C library (Go, Rust, raw "
		      "futexes) were not observed",
		      sync_rows_note(p, SYNC_ROWS_UNSEEN), out);
	print_because(v, "All waits of a process are as the kernel sees them",
		      sync_rows_note(p, SYNC_ROWS_UNWRAPPED), out);
}

static void print_below(const struct rows_view *v, FILE *out)
{
	print_unfinished(v, out);
	print_short(v, out);
	print_unseen(v, out);
}

static void put_one_unfinished(const struct rows_view *v, const struct sync_unfinished *u,
			       struct json *j)
{
	const struct rows_path path = path_of(&u->path);

	json_object(j);
	json_key_str(j, "thread", u->thread);
	json_key_u64(j, "pid", u->pid);
	json_key_u64(j, "tid", u->tid);
	json_key_str(j, "name", u->name);
	json_key_str(j, "kind", u->what);
	json_key_bool(j, "is_lock", u->is_lock);
	json_key_u64(j, "waits", u->n);
	json_key_u64(j, "ns", u->ns);
	if (u->since_ns != UINT64_MAX)
		json_key_u64(j, "since_ns", u->since_ns);
	if (u->holder)
		json_key_str(j, "holder", u->holder);
	rows_path_json(j, &v->report, &path);
	json_object_end(j);
}

/* It closes the list before, and the end of the report its own. */
static void put_behind(const struct rows_view *v, struct json *j)
{
	struct sync_short s = sync_rows_short(v->report.profile);

	const struct sync_rows *sync = v->of;

	json_array_end(j);
	json_key(j, "unfinished_waits");
	json_array(j);
	vec_each(u, &sync->unfinished)
		put_one_unfinished(v, u, j);
	json_array_end(j);
	json_key(j, "short_waits");
	json_array(j);
	json_object(j);
	json_key_u64(j, "threshold_ns", s.threshold_ns);
	json_key_u64(j, "waits", s.n);
	json_key_u64(j, "ns", s.ns);
	json_object_end(j);
}

static const uint64_t *totals(const struct rows_view *v)
{
	return ((const struct sync_rows *)v->of)->totals;
}

const struct rows_kind sync_view = {
	.name = "sync",
	.subject = "waits",
	.bys = bys,
	.keys = keys,
	.columns = columns,
	.counted = "waits",
	.nothing = "No thread waited for another.",
	.has_total = true,
	.load = load,
	.row_name = name_of,
	.compare = compare,
	.note = put_paths,
	.text_below = print_below,
	.json_behind = put_behind,
	.totals = totals,
};
