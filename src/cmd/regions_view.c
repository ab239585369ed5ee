/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/regions_view.h"

#include <string.h>

#include "base/text.h"

#define NAME_MAX_BYTES 512

void regions_view_fini(struct regions_view *r)
{
	region_rows_fini(&r->regions);
	region_history_fini(&r->history);
}

static int load_regions(struct rows_view *v, struct err *e)
{
	struct region_rows *regions = &((struct regions_view *)v->of)->regions;
	int rc = region_rows_make(v->report.profile, (enum region_rows_by)v->by, regions,
				  e);

	if (rc < 0)
		return rc;
	v->unit = regions->unit;
	return regions->has_regions ? 0 : rows_view_missing(v, e);
}

static void put_name_of(const struct rows_view *v, uint32_t function,
			struct rows_word *ret)
{
	char name[NAME_MAX_BYTES];

	region_rows_name(v->report.profile, function, name, sizeof(name));
	buf_puts(&ret->text, name);
}

/* Regions. */

enum { KEY_EXCLUSIVE, KEY_INCLUSIVE };

/* By what region_rows_make() knows, in its order. */
static const struct rows_by bys[] = {
	[REGION_ROWS_BY_REGION] = { "region", NULL, KEY_EXCLUSIVE },
	[REGION_ROWS_BY_THREAD] = { "thread", NULL, KEY_EXCLUSIVE },
	[REGION_ROWS_BY_TREE] = { "tree", NULL, KEY_INCLUSIVE },
	[REGION_ROWS_N_BYS] = { NULL, NULL, 0 },
};

/* A thread's own row has its inclusive time. */
static uint64_t own_time(unused const struct rows_view *v, const void *row)
{
	const struct region_row *r = row;

	return r->thread ? r->inclusive : r->exclusive;
}

static const struct rows_key keys[] = {
	[KEY_EXCLUSIVE] = { "exclusive", 0, own_time },
	[KEY_INCLUSIVE] = { "inclusive", offsetof(struct region_row, inclusive), NULL },
	{ "calls", offsetof(struct region_row, calls), NULL },
	{ NULL, 0, NULL },
};

static const char *row_name(const struct rows_view *v, const void *row)
{
	const struct region_row *r = row;

	return r->thread ? r->thread
			 : profile_function(v->report.profile, r->function)->name;
}

/* Each right behind what it is in: the first rows on the ways from the top to the two
 * that differ decide. */
static int compare(const struct rows_view *v, const void *x, const void *y)
{
	const struct region_row *rows = (const struct region_row *)v->rows;
	const struct region_row *a = x, *b = y;
	int deeper = (a->depth > b->depth) - (a->depth < b->depth);

	while (a->depth > b->depth)
		a = &rows[a->parent];
	while (b->depth > a->depth)
		b = &rows[b->parent];
	if (a == b)
		return deeper;
	while (a->parent != b->parent) {
		a = &rows[a->parent];
		b = &rows[b->parent];
	}
	return rows_view_compare(v, a, b);
}

static void put_name(const struct rows_view *v, const void *row, struct rows_word *ret)
{
	const struct region_row *r = row;

	if (r->thread)
		buf_puts(&ret->text, r->thread);
	else
		put_name_of(v, r->function, ret);
	ret->depth = r->depth;
	ret->after = r->is_counter ? " (counter)" : NULL;
}

static uint64_t calls_or_counted(unused const struct rows_view *v, const void *row)
{
	const struct region_row *r = row;

	return r->is_counter ? r->counted : r->calls;
}

static uint64_t time_of_call(unused const struct rows_view *v, const void *row)
{
	const struct region_row *r = row;

	return r->calls && !r->thread ? r->inclusive / r->calls : 0;
}

static void put_share(const struct rows_view *v, const void *row, struct rows_word *ret)
{
	const struct region_row *total =
		&((const struct regions_view *)v->of)->regions.total;
	const struct region_row *r = row;
	char s[TEXT_MAX];

	buf_puts(&ret->text, r->exclusive ? text_pct(s, (double)r->exclusive,
						     (double)total->exclusive)
					  : "–");
}

static void put_kind(unused const struct rows_view *v, const void *row, struct json *j)
{
	const struct region_row *r = row;

	json_key_str(j, "kind",
		     r->thread	     ? "thread"
		     : r->is_counter ? "counter"
				     : "region");
	json_key_u64(j, "depth", r->depth);
}

static void put_counted(unused const struct rows_view *v, const void *row, struct json *j)
{
	const struct region_row *r = row;

	if (r->is_counter)
		json_key_u64(j, "counted", r->counted);
}

static const struct rows_column columns[] = {
	{ .json = put_kind },
	{ .title = "Calls",
	  .unit = "count",
	  .number = calls_or_counted,
	  .json = put_counted },
	{ .key = "calls", .at = offsetof(struct region_row, calls) },
	{ .title = "Subroutines",
	  .key = "subroutines",
	  .unit = "count",
	  .at = offsetof(struct region_row, subroutines) },
	{ .title = "Exclusive",
	  .key = "exclusive",
	  .at = offsetof(struct region_row, exclusive) },
	{ .title = "%", .word = put_share },
	{ .title = "Inclusive",
	  .key = "inclusive",
	  .at = offsetof(struct region_row, inclusive) },
	{ .title = "Per call", .number = time_of_call },
	{ .title = "Region",
	  .key = "name",
	  .share = 1,
	  .is_name = true,
	  .word = put_name },
	{ .title = NULL },
};

static int load(struct rows_view *v, struct err *e)
{
	const struct region_rows *regions = &((struct regions_view *)v->of)->regions;
	int rc = load_regions(v, e);

	if (rc < 0)
		return rc;
	rows_view_take(v, regions->rows.at, regions->rows.n, sizeof(*regions->rows.at));
	if (regions->rows.n)
		rows_view_part(v, NULL, NULL, regions->rows.n);
	return 0;
}

const struct rows_kind regions_view_kind = {
	.name = "regions",
	.subject = "regions",
	.bys = bys,
	.keys = keys,
	.columns = columns,
	.nothing =
		"No region was entered. A program marks them by dwell.h, or has them of\n"
		"functions that were compiled with -finstrument-functions.",
	.load = load,
	.row_name = row_name,
	.compare = compare,
};

/* Their history, in its order. */

static const struct recording *recording_of(const struct rows_view *v,
					    const struct region_slice_row *row)
{
	return profile_source(v->report.profile, row->source);
}

/* When, and of which thread, is said above the outermost of a callstack. */
static bool is_inner(const struct rows_view *v, const struct region_slice_row *row)
{
	const struct region_slice_row *before = row - 1;

	return (const char *)row != v->rows && before->source == row->source &&
	       before->time_ns == row->time_ns && before->thread == row->thread;
}

static void put_moment(const struct rows_view *v, const void *row, struct rows_word *ret)
{
	const struct region_slice_row *r = row;
	char s[TEXT_MAX];

	if (!is_inner(v, r))
		buf_puts(&ret->text, text_duration(s, r->time_ns));
}

static void put_thread(const struct rows_view *v, const void *row, struct rows_word *ret)
{
	const struct region_slice_row *r = row;

	if (!is_inner(v, r))
		buf_printf(&ret->text, "%s (%u)",
			   recording_string(recording_of(v, r), r->thread->name),
			   r->thread->tid);
}

static void put_where(const struct rows_view *v, const void *row, struct json *j)
{
	const struct region_slice_row *r = row;

	json_key_u64(j, "source", r->source);
	json_key_u64(j, "time_ns", r->time_ns);
	json_key_str(j, "thread", recording_string(recording_of(v, r), r->thread->name));
	json_key_u64(j, "tid", r->thread->tid);
	json_key_u64(j, "depth", r->depth);
}

static void put_slice_name(const struct rows_view *v, const void *row,
			   struct rows_word *ret)
{
	const struct region_slice_row *r = row;

	put_name_of(v, r->function, ret);
	ret->depth = 1 + r->depth; /* in the thread */
}

static const struct rows_column history_columns[] = {
	{ .json = put_where },
	{ .title = "After", .above = put_moment },
	{ .title = "Calls",
	  .key = "calls",
	  .unit = "count",
	  .at = offsetof(struct region_slice_row, values[REGION_HISTORY_CALLS]) },
	{ .title = "Sub-\nroutines",
	  .key = "subroutines",
	  .unit = "count",
	  .at = offsetof(struct region_slice_row, values[REGION_HISTORY_SUBROUTINES]) },
	{ .title = "Excl.",
	  .key = "exclusive",
	  .at = offsetof(struct region_slice_row, values[REGION_HISTORY_EXCLUSIVE]) },
	{ .title = "Incl.",
	  .key = "inclusive",
	  .at = offsetof(struct region_slice_row, values[REGION_HISTORY_INCLUSIVE]) },
	{ .title = "Instance\nexcl.",
	  .key = "instance-exclusive",
	  .at = offsetof(struct region_slice_row,
			 values[REGION_HISTORY_INSTANCE_EXCLUSIVE]) },
	{ .title = "Instance\nincl.",
	  .key = "instance-inclusive",
	  .at = offsetof(struct region_slice_row,
			 values[REGION_HISTORY_INSTANCE_INCLUSIVE]) },
	{ .title = "Region",
	  .key = "name",
	  .share = 1,
	  .is_name = true,
	  .word = put_slice_name,
	  .above = put_thread },
	{ .title = NULL },
};

static int load_history(struct rows_view *v, struct err *e)
{
	struct region_history *h = &((struct regions_view *)v->of)->history;
	int rc = load_regions(v, e);

	if (rc == 0)
		rc = region_history_load(h, v->report.profile, e);
	if (rc < 0)
		return rc;
	if (!h->rows.n)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s has no history: record with --callstack-every or "
			       "--callstack-signal",
			       v->report.paths[0]);
	rows_view_take(v, h->rows.at, h->rows.n, sizeof(*h->rows.at));
	rows_view_part(v, NULL, NULL, h->rows.n);
	return 0;
}

const struct rows_kind regions_view_history = {
	.name = "regions",
	.subject = "regions",
	.columns = history_columns,
	.load = load_history,
};
