/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "analyze/names.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/report_text.h"
#include "cmd/timeline_legend.h"
#include "cmd/timeline_view.h"

#define PCT_WIDTH    4	/* "100%" */
#define NAME_LEAST   16 /* columns */
#define NAME_MOST    32
#define TICK_LEAST   10 /* cells from one time to the next */
#define MANY_MARKS   9	/* a digit each */
#define MANY_OF_NAME 3	/* the same of several processes */
/* Rows of values that are never as high are nothing but a line. */
#define LEAST_VALUE 0.05

static unsigned name_width(unsigned width)
{
	unsigned share = width / 5;

	return share < NAME_LEAST ? NAME_LEAST : share > NAME_MOST ? NAME_MOST : share;
}

size_t timeline_view_cells(unsigned width)
{
	unsigned beside = PCT_WIDTH + 1 + name_width(width) + 1;

	return width > beside + TICK_LEAST ? width - beside : TICK_LEAST;
}

static const struct recording *recording_of(const struct timeline_view *v)
{
	return profile_source(v->report->profile, v->source);
}

/* A row of characters, without what is blank at its end. */
static void print_cells(const char *cells, FILE *out)
{
	size_t n = strlen(cells);

	while (n && cells[n - 1] == ' ')
		n--;
	fprintf(out, "%.*s\n", (int)n, cells);
}

/* What is left of the cells. */
static void print_left(const struct timeline_view *v, const char *pct, const char *name,
		       FILE *out)
{
	unsigned width = name_width(v->report->width);
	char cut[400];

	names_cut_end(cut, sizeof(cut), name, width);
	fprintf(out, "%*s %s%*s ", PCT_WIDTH, pct, cut, (int)(width - text_width(cut)),
		"");
}

/* Times above. */

static const struct unit {
	double ns;
	const char *name;
} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };

/* 1, 2 or 5 times a power of ten, and a whole number. */
static uint64_t step_ns(double least_ns)
{
	static const double steps[] = { 1, 2, 5 };
	double power = pow(10, floor(log10(fmin(fmax(least_ns, 1), 1e18))));

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i] * power >= least_ns)
			return (uint64_t)(steps[i] * power);
	return (uint64_t)(10 * power);
}

/* False: a label reaches the one behind it. */
static bool put_times(const struct timeline_view *v, uint64_t step,
		      const struct unit *unit, char *cells)
{
	const struct chronicle *t = &v->chronicle;
	uint64_t start_ns = profile_start_ns(v->report->profile, v->source);
	uint64_t from = t->from_ns - start_ns, to = t->to_ns - start_ns;
	uint64_t first = (from / step + (from % step > 0)) * step;
	uint64_t n_times = first < to ? (to - first - 1) / step + 1 : 0;
	size_t free_from = 0;

	memset(cells, ' ', t->n_cells);
	for (uint64_t i = 0; i < n_times; i++) {
		uint64_t at = first + i * step;
		size_t cell = chronicle_cell_at(t, start_ns + at);
		char label[TEXT_MAX];
		/* As many digits as the number has, and none of its binary fraction. */
		int n = snprintf(label, sizeof(label), "|%.15g %s", (double)at / unit->ns,
				 unit->name);

		if (cell < free_from)
			return false;
		free_from = cell + (size_t)n + 1;
		if (cell + (size_t)n <= t->n_cells)
			memcpy(cells + cell, label, (size_t)n);
	}
	return true;
}

static void print_times(const struct timeline_view *v, FILE *out)
{
	const struct chronicle *t = &v->chronicle;
	double length_ns = (double)(t->to_ns - t->from_ns);
	double to_ns =
		(double)(t->to_ns - profile_start_ns(v->report->profile, v->source));
	own(freep) char *cells = xcalloc(t->n_cells + 1, 1);
	size_t unit = 0, least = TICK_LEAST;

	while (unit + 1 < sizeof(units) / sizeof(units[0]) && to_ns < units[unit].ns)
		unit++;
	while (!put_times(v, step_ns(length_ns / (double)t->n_cells * (double)least),
			  &units[unit], cells) &&
	       least < t->n_cells)
		least++;
	print_left(v, "Run", "Thread", out);
	print_cells(cells, out);
}

/* Threads. */

static char *thread_name(const struct timeline_view *v, const struct chronicle_thread *x)
{
	const struct recording *r = recording_of(v);
	const char *comm = recording_string(r, x->process->comm);
	const char *name = recording_string(r, x->thread->name);
	own(buf_fini) struct buf b = { 0 };
	char tid[TEXT_MAX], cut[400];
	size_t room;

	snprintf(tid, sizeof(tid), " %u", x->thread->tid);
	report_text_safe(&b, comm);
	if (*name && strcmp(name, comm) != 0) {
		buf_puts(&b, "/");
		report_text_safe(&b, name);
	}
	room = name_width(v->report->width) - strlen(tid);
	return xasprintf("%s%s", names_cut_end(cut, sizeof(cut), buf_str(&b), room), tid);
}

static void print_thread(const struct timeline_view *v, struct timeline_legend *l,
			 const struct chronicle_thread *x, FILE *out)
{
	const struct chronicle *t = &v->chronicle;
	double length_ns = (double)(t->to_ns - t->from_ns);
	own(freep) char *name = thread_name(v, x);
	own(freep) char *cells = xcalloc(t->n_cells + 1, 1);
	char pct[TEXT_MAX];

	for (size_t i = 0; i < t->n_cells; i++)
		cells[i] = timeline_legend_of(l, &x->cells[i],
					      length_ns / (double)t->n_cells);
	snprintf(pct, sizeof(pct), "%.0f%%", 100 * x->ns[CHRONICLE_RUN] / length_ns);
	print_left(v, t->has_kind[CHRONICLE_RUN] ? pct : "", name, out);
	print_cells(cells, out);
}

/* Values beneath. */

static const char *bar_of(double value, double most)
{
	static const char *const bars[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	int n = sizeof(bars) / sizeof(bars[0]);
	int i = (int)(value / most * n);

	return isnan(value) || value <= 0 ? " " : bars[i < n ? i : n - 1];
}

static void put_most(struct buf *b, const struct chronicle_value *x)
{
	char s[TEXT_MAX];

	if (strcmp(x->unit, "bytes") == 0)
		buf_puts(b, text_size(s, chronicle_whole(x->most)));
	else
		buf_printf(b, "%.2f", x->most);
}

static void print_value(const struct timeline_view *v, const struct chronicle_value *x,
			FILE *out)
{
	own(buf_fini) struct buf b = { 0 };
	own(buf_fini) struct buf cells = { 0 };
	size_t last = 0;

	buf_printf(&b, "%s ", x->name);
	put_most(&b, x);
	if (x->process) {
		buf_puts(&b, " ");
		report_text_safe(&b, recording_string(recording_of(v), x->process->comm));
		buf_printf(&b, " %u", x->process->pid);
	}
	for (size_t i = 0; i < v->chronicle.n_cells; i++) {
		const char *bar = bar_of(x->cells[i], x->most);

		buf_puts(&cells, bar);
		last = *bar == ' ' ? last : cells.size;
	}
	print_left(v, "", buf_str(&b), out);
	fprintf(out, "%.*s\n", (int)last, buf_str(&cells));
}

static void print_values(const struct timeline_view *v, FILE *out)
{
	const char *name = "";
	size_t n = 0;

	vec_each(x, &v->values.all) {
		n = strcmp(name, x->name) == 0 ? n + 1 : 1;
		name = x->name;
		if (x->most >= LEAST_VALUE && n <= MANY_OF_NAME)
			print_value(v, x, out);
	}
}

/* Marks. */

static bool is_mark(const struct timeline_view *v, const struct model_interval *x)
{
	return *recording_string(recording_of(v), x->name) &&
	       chronicle_cell_at(&v->chronicle, x->to_ns) < v->chronicle.n_cells;
}

static void print_mark(const struct timeline_view *v, const struct model_interval *x,
		       size_t n, FILE *out)
{
	const struct recording *r = recording_of(v);
	uint64_t start_ns = profile_start_ns(v->report->profile, v->source);
	own(buf_fini) struct buf b = { 0 };
	char s[TEXT_MAX];

	buf_printf(&b, "%zu ", n);
	report_text_safe(&b, recording_string(r, x->name));
	buf_printf(&b, " at %s, by ", text_duration(s, x->to_ns - start_ns));
	report_text_safe(&b, recording_string(r, x->cause));
	report_text_line(out, v->report, "", &b);
}

#define SEVERAL_MARKS '*' /* in a cell, or more than there are digits for */

static void print_marks(const struct timeline_view *v, FILE *out)
{
	const struct chronicle *t = &v->chronicle;
	const struct recording *r = recording_of(v);
	own(freep) char *cells = xcalloc(t->n_cells + 1, 1);
	size_t n = 0;

	memset(cells, ' ', t->n_cells);
	for (uint32_t i = 0; i < recording_n_intervals(r); i++) {
		const struct model_interval *x = recording_interval(r, i);
		char *cell = &cells[chronicle_cell_at(t, x->to_ns)];

		if (!is_mark(v, x))
			continue;
		n++;
		*cell = *cell == ' ' && n <= MANY_MARKS ? (char)('0' + (int)n)
							: SEVERAL_MARKS;
	}
	if (!n)
		return;
	print_left(v, "", "marks", out);
	print_cells(cells, out);
}

/* The rows that tell most of what there is. */
static void list_marks(const struct timeline_view *v, FILE *out)
{
	const struct chronicle *t = &v->chronicle;
	const struct recording *r = recording_of(v);
	char s[TEXT_MAX];
	size_t n = 0, last = t->n_cells;
	bool is_shared = false;

	for (uint32_t i = 0; i < recording_n_intervals(r); i++) {
		const struct model_interval *x = recording_interval(r, i);

		if (!is_mark(v, x))
			continue;
		if (++n <= MANY_MARKS)
			print_mark(v, x, n, out);
		is_shared |= last == chronicle_cell_at(t, x->to_ns);
		last = chronicle_cell_at(t, x->to_ns);
	}
	if (n <= MANY_MARKS && is_shared)
		fprintf(out, "%c several marks\n", SEVERAL_MARKS);
	if (n > MANY_MARKS)
		fprintf(out, "%c more marks, of %s (dwell global shows all)\n",
			SEVERAL_MARKS, text_count(s, n));
}

void timeline_view_text(const struct timeline_view *v, FILE *out)
{
	struct timeline_legend legend = { 0 };

	timeline_legend_make(&legend, v);
	print_times(v, out);
	for (size_t i = 0; i < v->n_shown; i++)
		print_thread(v, &legend, &v->chronicle.threads.at[i], out);
	report_text_more(v->chronicle.threads.n - v->n_shown, out);
	if (!v->chronicle.threads.n)
		fputs("No event tells what threads did then: record 'totaltime' or "
		      "'states'\n",
		      out);
	print_values(v, out);
	print_marks(v, out);
	if (v->n_shown)
		timeline_legend_print(&legend, v, out);
	list_marks(v, out);
}
