/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/calc_stall.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "cmd/calc_value.h"

#define MANY   3      /* of one cause share a row */
#define INSIDE "  │ " /* what a row of the bubble goes on behind, and the last one */
#define BELOW  "    "

/* It does not round to nothing. */
static bool is_worth(double cycles)
{
	return cycles >= 0.05;
}

/* It may explain no more than a part. */
static bool is_bounded(const struct stall *s, const struct stall_culprit *x)
{
	return x->most >= 0 && is_worth(s->high - x->most);
}

/* One row of the bubble. */
struct row {
	unsigned first, end; /* culprits that differ in nothing but the cause */
	unsigned n_more;     /* others of its cause, that have no row */
	double all;	     /* cycles, these and itself together at most */
};

struct bubble {
	const struct stall *s;
	const struct procedure *p;
	uint32_t step;
	struct row rows[STALL_MAX_CULPRITS];
	unsigned n;
};

/* Branches and stores before it may be many, whatever each explains; of other causes the
 * one that has no bound is worth a row. */
static bool may_be_one_of_many(const struct stall *s, const struct stall_culprit *x)
{
	return x->blamed != PROCEDURE_OUTSIDE &&
	       (x->cause == STALL_BRANCH || x->cause == STALL_FORWARD ||
		is_bounded(s, x));
}

static bool may_share(const struct stall *s, unsigned a, unsigned b)
{
	const struct stall_culprit *x = &s->culprits[a], *y = &s->culprits[b];

	return x->cause == y->cause && x->event == y->event && may_be_one_of_many(s, x) &&
	       may_be_one_of_many(s, y);
}

static double most_of(const struct stall *s, unsigned i)
{
	return s->culprits[i].most < 0 ? INFINITY : s->culprits[i].most;
}

/* Too many of its cause for a row each. */
static bool is_of_many(const struct stall *s, unsigned i)
{
	unsigned n = 0;

	for (unsigned k = 0; k < s->n; k++)
		n += may_share(s, i, k);
	return n >= MANY;
}

/* A row for all of them, at the first. */
static void put_many_together(struct bubble *b, unsigned i)
{
	const struct stall *s = b->s;
	struct row row = { .first = i };

	for (unsigned k = 0; k < s->n; k++) {
		if (!may_share(s, i, k))
			continue;
		if (k < i)
			return;
		row.n_more += k != i;
		row.all += most_of(s, k);
		if (most_of(s, k) > most_of(s, row.first))
			row.first = k;
	}
	row.end = row.first + 1;
	b->rows[b->n++] = row;
}

/* Those that differ in nothing but the cause, and are not of many; behind the last of
 * them. */
static unsigned alike(const struct stall *s, unsigned i)
{
	const struct stall_culprit *first = &s->culprits[i];

	for (i++; i < s->n; i++) {
		const struct stall_culprit *x = &s->culprits[i];

		if (is_of_many(s, i) || x->blamed != first->blamed ||
		    x->event != first->event ||
		    is_bounded(s, x) != is_bounded(s, first) ||
		    (is_bounded(s, x) && is_worth(fabs(x->most - first->most))))
			break;
	}
	return i;
}

static void find_rows(struct bubble *b)
{
	for (unsigned i = 0; i < b->s->n;) {
		struct row row = { .first = i };

		if (is_of_many(b->s, i)) {
			put_many_together(b, i++);
			continue;
		}
		i = row.end = alike(b->s, i);
		b->rows[b->n++] = row;
	}
}

/* "D-cache or DTLB miss" */
static void put_names(const struct stall *s, const struct row *row, struct buf *to)
{
	static const char miss[] = " miss";

	for (unsigned k = row->first; k < row->end; k++) {
		const char *name = stall_cause_text(s->culprits[k].cause);
		size_t n = strlen(name), cut = sizeof(miss) - 1;
		const char *next = k + 1 < row->end
					   ? stall_cause_text(s->culprits[k + 1].cause)
					   : "";

		if (n > cut && strcmp(name + n - cut, miss) == 0 && strstr(next, miss))
			n -= cut;
		buf_printf(to, "%s%.*s", k > row->first ? " or " : "", (int)n, name);
	}
}

/* "and 9 more, ≤ 2.1 in all": what is more than the stall bounds nothing. */
static void put_more(const struct stall *s, const struct row *row, bool is_last,
		     struct buf *to)
{
	char all[TEXT_MAX];

	buf_printf(to, "  %s   and %u more", is_last ? " " : "│", row->n_more);
	if (is_worth(s->high - row->all))
		buf_printf(to, ", ≤ %s in all", calc_value_bound(all, row->all));
}

/* Does it say which instruction's? */
static bool is_named(const struct bubble *b, const struct row *row)
{
	const struct stall_culprit *x = &b->s->culprits[row->first];

	return x->blamed != PROCEDURE_OUTSIDE && (x->blamed != b->step || row->n_more);
}

static void put_row(const struct bubble *b, const struct row *row, bool is_last,
		    struct buf *to)
{
	const struct stall_culprit *x = &b->s->culprits[row->first];
	char most[TEXT_MAX];

	buf_printf(to, "  %s ", is_last ? "└" : "├");
	put_names(b->s, row, to);
	if (is_named(b, row))
		buf_printf(to, " of %" PRIx64, b->p->steps[x->blamed].address);
	if (is_bounded(b->s, x))
		buf_printf(to, ", ≤ %s", calc_value_bound(most, x->most));
	if (x->event)
		buf_printf(to, " by %s", x->event);
}

/* A row of the table without numbers, up to its text. */
static void put_empty(struct table *t, unsigned column)
{
	table_row(t);
	for (unsigned i = 0; i < column; i++)
		table_cell(t, "");
}

static void put_length(const struct bubble *b, struct table *t)
{
	const struct stall *s = b->s;
	bool is_way = b->step == PROCEDURE_OUTSIDE, is_exact = s->low == s->high;
	char cycles[TEXT_MAX];

	if (is_exact)
		calc_value_cycles(cycles, s->cycles);
	else
		calc_value_cycles_range(cycles, s->low, s->high);
	table_cellf(t, "  ┌ stalls %s%s%s", cycles, is_exact || !is_way ? " cycles" : "",
		    is_way ? " on the way" : "");
	table_continue(t, INSIDE);
}

static void put_rows(const struct bubble *b, struct table *to, unsigned column)
{
	for (unsigned i = 0; i < b->n; i++) {
		const struct row *row = &b->rows[i];
		bool is_last = i + 1 == b->n && !is_worth(b->s->unexplained);
		own(buf_fini) struct buf text = { 0 }, more = { 0 };

		put_row(b, row, is_last, &text);
		put_empty(to, column);
		table_cell(to, buf_str(&text));
		table_continue(to, is_last ? BELOW : INSIDE);
		if (!row->n_more)
			continue;
		put_more(b->s, row, is_last, &more);
		put_empty(to, column);
		table_cell(to, buf_str(&more));
		table_continue(to, is_last ? BELOW : INSIDE);
	}
}

void calc_stall_put(const struct stall *s, const struct procedure *p, uint32_t step,
		    struct table *to, unsigned column)
{
	struct bubble b = { .s = s, .p = p, .step = step };

	if (s->cycles <= 0)
		return;
	put_empty(to, column);
	put_length(&b, to);
	find_rows(&b);
	put_rows(&b, to, column);
	if (is_worth(s->unexplained)) {
		put_empty(to, column);
		table_cellf(to, "  └ unexplained, %.1f", s->unexplained);
	}
}

void calc_stall_each_named(const struct stall *s, const struct procedure *p,
			   uint32_t step, void (*fn)(void *ctx, uint32_t named),
			   void *ctx)
{
	struct bubble b = { .s = s, .p = p, .step = step };

	if (s->cycles <= 0)
		return;
	find_rows(&b);
	for (unsigned i = 0; i < b.n; i++)
		if (is_named(&b, &b.rows[i]))
			fn(ctx, s->culprits[b.rows[i].first].blamed);
}
