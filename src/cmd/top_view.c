/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/top_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/report_table.h"

#define HOT_PCT 10 /* a row with this share is shown bold */
/* Widths from which on there is room for who it was, and for a third number. */
#define WIDTH_OF_OWNER 76
#define WIDTH_OF_CPU   100

const struct top_window top_view_windows[TOP_N_WINDOWS] = {
	{ "interval", 0 },
	{ "10s", UINT64_C(10000000000) },
	{ "1m", UINT64_C(60000000000) },
	{ "all", TOP_FEED_ALL },
};

/* Making. */

static void drop(struct top_view *v)
{
	row_view_fini(&v->rows);
	v->rows = (struct row_view){ 0 };
	free(v->owners);
	v->owners = NULL;
	quality_fini(&v->report.quality);
	v->report = (struct report){ 0 };
}

void top_view_fini(struct top_view *v)
{
	drop(v);
}

static int load(struct top_view *v, struct err *e)
{
	struct profile_options o = {
		.filter = v->choice.filter[0] ? v->choice.filter : NULL,
		.no_inline = v->choice.no_inline,
	};

	return top_feed_load(v->feed, top_view_windows[v->choice.window].ns, &o, e);
}

static void make_report(struct top_view *v)
{
	const struct profile *p = top_feed_profile(v->feed);

	v->report =
		(struct report){ .profile = (struct profile *)p,
				 .filter = v->choice.filter[0] ? v->choice.filter : NULL,
				 .width = v->width,
				 .shown = &v->column,
				 .n_shown = 1,
				 .order = v->choice.order,
				 .ranking = { .limit = 15 } };
	quality_measure(&v->report.quality, p);
	v->truncated_ns = v->report.quality.columns[0].truncated;
	v->n_samples = profile_column(p, 0)->total_count;
}

static int sum_modes(struct top_view *v, struct err *e)
{
	own(grouping_freep) struct grouping *g = NULL;
	int rc = grouping_make(v->report.profile, dimension_find("mode"), &g, e);

	v->user_ns = v->kernel_ns = 0;
	for (size_t i = 0; rc == 0 && i < grouping_n_rows(g); i++) {
		const struct metrics *m = grouping_metrics(g);
		struct dimension_label label;

		grouping_label(g, i, &label);
		if (strcmp(buf_str(&label.name), "kernel") == 0)
			v->kernel_ns += m->exclusive[i * m->n_columns];
		else
			v->user_ns += m->exclusive[i * m->n_columns];
		grouping_label_fini(&label);
	}
	return rc;
}

static void order_rows(struct top_view *v)
{
	struct row_view *rows = &v->rows;
	struct ranking_options o = { .total = row_view_total(rows, 0),
				     .by_name = v->choice.order == TOP_NAME };
	bool is_inclusive = v->choice.order == TOP_INCLUSIVE;

	for (size_t i = 0; i < rows->m->n_rows; i++) {
		rows->rows[i].value = row_view_values(rows, i, is_inclusive)[0];
		rows->rows[i].tie = row_view_values(rows, i, !is_inclusive)[0];
	}
	if (o.by_name)
		row_view_name_rows(rows, rows->m->n_rows);
	rows->n_shown = ranking_order(rows->rows, rows->m->n_rows, &o);
}

static bool is_by_function(const struct top_view *v)
{
	return strcmp(v->choice.by->name, "function") == 0;
}

int top_view_make(struct top_view *v, struct err *e)
{
	int rc;

	drop(v);
	rc = load(v, e);
	if (rc < 0)
		return rc;
	top_feed_span(v->feed, &v->span);
	if (!profile_n_columns(top_feed_profile(v->feed)))
		return err_set(e, ERR_FORMAT, "the recording has no event");
	make_report(v);
	v->rows = (struct row_view){ .r = &v->report, .d = v->choice.by };
	rc = sum_modes(v, e);
	if (rc == 0)
		rc = row_view_open(&v->rows, false, e);
	if (rc == 0 && is_by_function(v))
		rc = prevalence_find(v->report.profile, 0, &v->owners, e);
	if (rc == 0)
		order_rows(v);
	return rc;
}

/* The table. */

static bool has_cpu(const struct top_view *v)
{
	return v->width >= WIDTH_OF_CPU || !grouping_has_inclusive(v->rows.g);
}

static bool has_owner(const struct top_view *v)
{
	return v->owners && v->width >= WIDTH_OF_OWNER;
}

static void add_title(struct report_table *t, const struct top_view *v, const char *title,
		      enum top_order order)
{
	char marked[32];

	snprintf(marked, sizeof(marked), "%s%s", v->choice.order == order ? "↓" : "",
		 title);
	report_table_number(t, marked);
}

static void add_titles(const struct top_view *v, struct report_table *t)
{
	bool has_inclusive = grouping_has_inclusive(v->rows.g);

	if (has_cpu(v))
		report_table_number(t, "CPU");
	add_title(t, v, has_inclusive ? "Self" : "Share", TOP_EXCLUSIVE);
	if (has_inclusive)
		add_title(t, v, "Incl.", TOP_INCLUSIVE);
	row_view_add_names(&v->rows, t);
	if (has_owner(v))
		report_table_name(t, "Command", 2);
}

/* "cc1 +3": and so many others. */
static void put_owner(const struct top_view *v, struct report_table *t, size_t i)
{
	const struct prevalence *owner = &v->owners[top_view_row_function(v, i)];
	char others[24] = "";

	if (owner->n_others)
		snprintf(others, sizeof(others), " +%u", owner->n_others);
	report_table_decorated(t, "", owner->command, others);
}

static void put_share(struct report_table *t, uint64_t part, uint64_t whole)
{
	char s[TEXT_MAX];

	report_table_cell(t, part ? text_pct(s, (double)part, (double)whole) : "–");
}

static void put_row(const struct top_view *v, struct report_table *t, size_t i)
{
	size_t row = v->rows.rows[i].id;
	uint64_t exclusive = row_view_values(&v->rows, row, false)[0];
	uint64_t total = row_view_total(&v->rows, 0);
	char s[TEXT_MAX];

	report_table_row(t, exclusive * 100 >= HOT_PCT * total);
	if (has_cpu(v))
		report_table_cell(t, text_pct(s, (double)exclusive,
					      (double)(v->span.to_ns - v->span.from_ns)));
	put_share(t, exclusive, total);
	if (grouping_has_inclusive(v->rows.g))
		put_share(t, row_view_values(&v->rows, row, true)[0], total);
	row_view_put_names(&v->rows, t, row);
	if (has_owner(v))
		put_owner(v, t, i);
}

void top_view_print_rows(const struct top_view *v, size_t first, size_t n, FILE *out)
{
	own(report_table_freep) struct report_table *t =
		report_table_new(v->width, command_terminal()->colour);

	add_titles(v, t);
	for (size_t i = first; i < v->rows.n_shown && i - first < n; i++)
		put_row(v, t, i);
	report_table_print(t, out);
}

/* Rows. */

static void label_of(const struct top_view *v, size_t i, struct dimension_label *ret)
{
	grouping_label(v->rows.g, v->rows.rows[i].id, ret);
}

char *top_view_row_key(const struct top_view *v, size_t i)
{
	struct dimension_label label;
	char *key;

	label_of(v, i, &label);
	key = xasprintf("%s\n%s", buf_str(&label.name), label.image ? label.image : "");
	grouping_label_fini(&label);
	return key;
}

uint32_t top_view_row_function(const struct top_view *v, size_t i)
{
	struct dimension_label label;
	uint32_t function;

	label_of(v, i, &label);
	function = is_by_function(v) || row_view_has_function(&v->rows) ? label.function
									: MODEL_NONE;
	grouping_label_fini(&label);
	return function;
}

/* The number behind "  pid " or "  tid "; false: it has none, as threads and processes
 * are not told apart. */
static bool id_in(const char *name, const char *word, uint64_t *ret)
{
	const char *at = NULL;

	for (const char *next = name; (next = strstr(next, word)); next += strlen(word))
		at = next + strlen(word);
	*ret = at ? strtoull(at, NULL, 10) : 0;
	return at != NULL;
}

/* Which fields of the filter language rows of a dimension are asked for by. */
static const struct {
	const char *by, *field,
		*id; /* id: the word before the number that is asked for */
} fields[] = {
	{ "process", "pid", "  pid " }, { "thread", "tid", "  tid " },
	{ "command", "command", NULL }, { "cgroup", "cgroup", NULL },
	{ "image", "image", NULL },	{ "file", "file", NULL },
	{ "mode", "mode", NULL },
};

static bool put_test(const char *field, const char *id, const char *name, struct buf *ret)
{
	char quote = strchr(name, '\'') ? '"' : '\'';
	uint64_t number;

	if (id && id_in(name, id, &number))
		buf_printf(ret, "%s == %llu", field, (unsigned long long)number);
	else if (id) /* of all processes of a name */
		buf_printf(ret, "command == %c%.*s%c", quote, (int)strcspn(name, " "),
			   name, quote);
	else
		buf_printf(ret, "%s == %c%s%c", field, quote, name, quote);
	return true;
}

bool top_view_row_filter(const struct top_view *v, size_t i, struct buf *ret)
{
	struct dimension_label label;
	bool is_known = false;

	label_of(v, i, &label);
	for (size_t k = 0; k < sizeof(fields) / sizeof(fields[0]) && !is_known; k++)
		if (strcmp(fields[k].by, v->choice.by->name) == 0)
			is_known = put_test(fields[k].field, fields[k].id,
					    buf_str(&label.name), ret);
	grouping_label_fini(&label);
	return is_known;
}
