/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/timeline_legend.h"

#include <ctype.h>
#include <stdlib.h>

#include "analyze/names.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/text.h"
#include "base/vec.h"

/* A wait that is a smaller share of a cell is not drawn. */
#define LEAST_WAIT 0.1
#define NAME_WIDTH 36

/* How many cells of those that are shown are a function's. */
struct use {
	uint32_t function;
	double ns;
};

static const char signs[CHRONICLE_N_KINDS] = {
	[CHRONICLE_RUN] = '#',	   [CHRONICLE_READY] = '!',   [CHRONICLE_LOCK] = '=',
	[CHRONICLE_SYNC] = '~',	   [CHRONICLE_IO] = '/',      [CHRONICLE_FAULT] = '^',
	[CHRONICLE_CALL] = ':',	   [CHRONICLE_STOPPED] = '|', [CHRONICLE_ASLEEP] = '.',
	[CHRONICLE_BLOCKED] = '-',
};
#define SMALL_RUN '+' /* where RUN is no letter, and less than half */

static int most_first(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

void timeline_legend_make(struct timeline_legend *l, const struct timeline_view *v)
{
	VEC(struct use) uses = { 0 };
	struct map places = { 0 };

	for (size_t i = 0; i < v->n_shown * v->chronicle.n_cells; i++) {
		const struct chronicle_thread *x =
			&v->chronicle.threads.at[i / v->chronicle.n_cells];
		const struct chronicle_cell *c = &x->cells[i % v->chronicle.n_cells];
		uint64_t *at;
		bool is_new;

		if (c->function == MODEL_NONE || chronicle_most(c->ns) != CHRONICLE_RUN)
			continue;
		at = map_slot(&places, c->function, &is_new);
		if (is_new) {
			*at = uses.n;
			vec_push(&uses)->function = c->function;
		}
		uses.at[*at].ns += c->function_ns;
	}
	if (uses.n)
		qsort(uses.at, uses.n, sizeof(*uses.at), most_first);
	while (l->n < uses.n && l->n < TIMELINE_LEGEND_LETTERS) {
		l->functions[l->n] = uses.at[l->n].function;
		l->n++;
	}
	map_fini(&places);
	vec_fini(&uses);
}

static char run_of(struct timeline_legend *l, const struct chronicle_cell *c,
		   bool is_small)
{
	l->has_small |= is_small;
	for (size_t i = 0; i < l->n; i++)
		if (l->functions[i] == c->function)
			return (char)((is_small ? 'a' : 'A') + (int)i);
	l->has_others = true;
	return is_small ? SMALL_RUN : signs[CHRONICLE_RUN];
}

char timeline_legend_of(struct timeline_legend *l, const struct chronicle_cell *c,
			double cell_ns)
{
	enum chronicle_kind most = chronicle_most(c->ns);

	if (most == CHRONICLE_RUN)
		return run_of(l, c, 2 * c->ns[most] < cell_ns);
	if (most == CHRONICLE_NONE || c->ns[most] < LEAST_WAIT * cell_ns)
		return ' ';
	l->has_kind[most] = true;
	return signs[most];
}

/* Items are beside each other as far as there is room. */
struct packing {
	const struct report *report;
	FILE *out;
	size_t at;
};

static void put_item(struct packing *p, char sign, const char *text)
{
	size_t width = 2 + text_width(text);

	if (p->at && p->at + 3 + width > p->report->width) {
		fputc('\n', p->out);
		p->at = 0;
	}
	fprintf(p->out, "%s%c %s", p->at ? "   " : "", sign, text);
	p->at += (p->at ? 3 : 0) + width;
}

static void put_function(struct packing *p, size_t letter, uint32_t function)
{
	char safe[400], name[400];

	text_printable(safe, sizeof(safe),
		       profile_function(p->report->profile, function)->label);
	put_item(p, (char)('A' + (int)letter),
		 names_shorten(name, sizeof(name), safe, NAME_WIDTH));
}

void timeline_legend_print(const struct timeline_legend *l, const struct timeline_view *v,
			   FILE *out)
{
	struct packing p = { v->report, out, 0 };

	fputc('\n', out);
	for (size_t i = 0; i < l->n; i++)
		put_function(&p, i, l->functions[i]);
	if (l->has_others)
		put_item(&p, signs[CHRONICLE_RUN], "runs elsewhere");
	for (enum chronicle_kind k = CHRONICLE_RUN + 1; k < CHRONICLE_N_KINDS; k++)
		if (l->has_kind[k])
			put_item(&p, signs[k], chronicle_kind_text(k));
	if (p.at)
		fputc('\n', out);
	if (l->has_small)
		fprintf(out, "Small letters%s: it runs for less than half of the time\n",
			l->has_others ? ", and +" : "");
}
