/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/stalls_growth.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/function_index.h"
#include "base/buf.h"
#include "base/table.h"
#include "cmd/command.h"
#include "cmd/report_json.h"
#include "cmd/report_table.h"
#include "cmd/report_text.h"
#include "host/clock.h"

#define NS_PER_S     1e9
#define MANY_PLACES  8	    /* are shown */
#define LEAST_GROWTH 0.0005 /* of the first run's cycles: what is below is 0.0 % */
#define LEAST_PLACE  0.005  /* the same, of one place */

/* Of one of the runs. */
struct run {
	const struct profile *p;
	struct function_index *index;
	struct function_code_options o;
};

static void run_fini(struct run *r)
{
	function_index_freep(&r->index);
}

static int open_run(struct run *r, const struct stalls_view *v,
		    const struct stalls_choice *choice, struct err *e)
{
	int rc;

	r->p = v->r->profile;
	rc = function_code_index(r->p, &r->index, e);
	r->o = (struct function_code_options){ .model = choice->model,
					       .clock_ghz = choice->clock_ghz,
					       .index = r->index };
	return rc;
}

/* The one of that name at that place, else the only one of that name. */
static const struct stalls_row *row_of(const struct stalls_view *v,
				       const struct profile_function *of)
{
	const struct stalls_row *found = NULL;
	size_t n = 0;

	for (size_t i = 0; i < v->rows.n; i++) {
		const struct stalls_row *row = &v->rows.at[i];
		const struct profile_function *f =
			profile_function(v->r->profile, row->function);

		if (strcmp(f->name, of->name) != 0 || strcmp(f->image, of->image) != 0)
			continue;
		if (f->start == of->start)
			return row;
		found = row;
		n++;
	}
	return n == 1 ? found : NULL;
}

/* Of the first run that which is this one of the second, and no other: several files may
 * have static functions of one name, even with the same code. */
static const struct stalls_row *same_row(const struct stalls_view *first,
					 const struct stalls_view *second,
					 const struct stalls_row *y)
{
	const struct stalls_row *x =
		row_of(first, profile_function(second->r->profile, y->function));

	if (!x || row_of(second, profile_function(first->r->profile, x->function)) != y)
		return NULL;
	return x;
}

/* False: the code of one is not at hand any more, or not that of the other. */
static bool add_function(struct stalls_growth *g, const struct run *a, uint32_t of_a,
			 const struct run *b, uint32_t of_b)
{
	own(function_code_fini) struct function_code first = { 0 }, second = { 0 };

	return function_code_make(&first, a->p, of_a, &a->o, NULL) == 0 &&
	       function_code_make(&second, b->p, of_b, &b->o, NULL) == 0 &&
	       stall_growth_add(&g->sum, &first, &second, of_b);
}

static int most_first(const void *a, const void *b)
{
	const struct stall_growth_place *x = a, *y = b;

	if (fabs(x->cycles) != fabs(y->cycles))
		return fabs(x->cycles) > fabs(y->cycles) ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

int stalls_growth_init(struct stalls_growth *ret, const struct stalls_view *first,
		       const struct stalls_view *second,
		       const struct stalls_choice *choice, struct err *e)
{
	own(run_fini) struct run a = { 0 }, b = { 0 };
	uint64_t started = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	int rc = open_run(&a, first, choice, e);

	*ret = (struct stalls_growth){ .first = first->total.cycles / first->runs };
	if (rc == 0)
		rc = open_run(&b, second, choice, e);
	if (rc < 0)
		return rc;
	ret->elsewhere = second->total.cycles / second->runs - ret->first;
	for (size_t i = 0; i < second->rows.n; i++) {
		const struct stalls_row *y = &second->rows.at[i];
		const struct stalls_row *x;
		double seconds =
			(double)(clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - started) /
			NS_PER_S;

		if (choice->seconds > 0 && seconds > choice->seconds)
			break;
		x = same_row(first, second, y);
		ret->n += x && add_function(ret, &a, x->function, &b, y->function);
	}
	ret->elsewhere -= ret->sum.cycles;
	if (ret->sum.places.n)
		qsort(ret->sum.places.at, ret->sum.places.n, sizeof(*ret->sum.places.at),
		      most_first);
	return 0;
}

void stalls_growth_fini(struct stalls_growth *g)
{
	stall_growth_fini(&g->sum);
}

/* Text. */

static bool is_told(const struct stalls_growth *g, double cycles)
{
	return fabs(cycles) >= LEAST_GROWTH * g->first;
}

static void put_pct(struct table *t, const struct stalls_growth *g, double cycles)
{
	double pct = 100 * cycles / g->first;

	table_cellf(t, "%+.*f %%", fabs(pct) < 999.95 ? 1 : 0,
		    is_told(g, cycles) ? pct : 0);
}

static void put_line(struct table *t, const struct stalls_growth *g, const char *what,
		     double cycles)
{
	table_row(t);
	table_cell(t, what);
	table_cell(t, "");
	table_cell(t, "");
	put_pct(t, g, cycles);
}

static void put_causes(const struct stalls_growth *g, unsigned width, FILE *out)
{
	static const struct table_column columns[] = {
		{ "Of the first run's cycles", TABLE_LEFT, true, 22 },
		{ "At least", TABLE_RIGHT, false, 0 },
		{ "At most", TABLE_RIGHT, false, 0 },
		{ "Grew by", TABLE_RIGHT, false, 0 },
	};
	own(table_freep) struct table *t = table_new(columns, 4);
	struct table_style style = { .width = width,
				     .colour = command_terminal()->colour };

	for (unsigned i = 0; i < STALL_N_CAUSES; i++) {
		if (!is_told(g, g->sum.low[i]) && !is_told(g, g->sum.high[i]))
			continue;
		table_row(t);
		table_cellf(t, "  %s", stall_cause_text(i));
		put_pct(t, g, g->sum.low[i]);
		put_pct(t, g, g->sum.high[i]);
		table_cell(t, "");
	}
	if (is_told(g, g->sum.unexplained))
		put_line(t, g, "  unexplained stall", g->sum.unexplained);
	if (is_told(g, g->sum.spread))
		put_line(t, g, "  a little everywhere, or chance", g->sum.spread);
	if (is_told(g, g->elsewhere))
		put_line(t, g, "  code that both do not have", g->elsewhere);
	table_rule(t);
	put_line(t, g, "all", g->sum.cycles + g->elsewhere);
	table_print(t, &style, out);
}

static void put_place(const struct stalls_growth *g, const struct stalls_view *v,
		      struct report_table *t, const struct stall_growth_place *x)
{
	own(buf_fini) struct buf causes = { 0 };
	char text[64];

	for (unsigned i = 0; i < STALL_N_CAUSES; i++)
		if (x->causes >> i & 1)
			buf_printf(&causes, "%s%s", causes.size ? ", " : "",
				   stall_cause_text(i));
	report_table_row(t, false);
	snprintf(text, sizeof(text), "%+.1f %%", 100 * x->cycles / g->first);
	report_table_cell(t, text);
	snprintf(text, sizeof(text), "%s%" PRIx64, x->is_arrival ? "→ " : "", x->address);
	report_table_cell(t, text);
	report_table_cell(t, profile_function(v->r->profile, x->function)->label);
	report_table_cell(t, x->causes ? buf_str(&causes) : "unexplained");
}

static void put_places(const struct stalls_growth *g, const struct stalls_view *v,
		       FILE *out)
{
	own(report_table_freep) struct report_table *t =
		report_table_new(v->r->width, command_terminal()->colour);
	size_t n = 0;

	report_table_number(t, "Grew by");
	report_table_number(t, "Address");
	report_table_name(t, "Function", 2);
	report_table_text(t, "Causes", 3);
	for (size_t i = 0; i < g->sum.places.n && n < MANY_PLACES; i++) {
		if (fabs(g->sum.places.at[i].cycles) < LEAST_PLACE * g->first)
			break;
		put_place(g, v, t, &g->sum.places.at[i]);
		n++;
	}
	if (!n)
		return;
	fputc('\n', out);
	report_table_print(t, out);
}

static void say(const struct stalls_view *v, const char *text, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	buf_puts(&b, text);
	report_text_wrapped(v->r, &b, out);
}

void stalls_growth_print(const struct stalls_growth *g, const struct stalls_view *second,
			 FILE *out)
{
	fputc('\n', out);
	if (!g->n) {
		say(second,
		    "What grew where is not told: no function of both runs has the same "
		    "code",
		    out);
		return;
	}
	say(second,
	    "How often is not known, but if both runs did the same work it was as often "
	    "in "
	    "both. Then all growth is of stalls, by causes that cannot be ruled out "
	    "where it is:",
	    out);
	fputc('\n', out);
	put_causes(g, second->r->width, out);
	if (fabs(g->sum.cycles) <= g->sum.error)
		say(second, "All of it may be chance: more samples tell more", out);
	put_places(g, second, out);
}

/* JSON. */

static void put_json_place(const struct stalls_view *v, struct json *j,
			   const struct stall_growth_place *x)
{
	json_object(j);
	report_json_function(j, v->r, x->function);
	json_key_u64(j, "address", x->address);
	json_key_bool(j, "is_on_the_way", x->is_arrival);
	json_key_double(j, "cycles", x->cycles);
	json_key(j, "causes");
	json_array(j);
	for (unsigned i = 0; i < STALL_N_CAUSES; i++)
		if (x->causes >> i & 1)
			json_str(j, stall_cause_text(i));
	json_array_end(j);
	json_object_end(j);
}

void stalls_growth_json(const struct stalls_growth *g, const struct stalls_view *second,
			struct json *j)
{
	json_key(j, "growth");
	json_object(j);
	json_key_u64(j, "functions", g->n);
	json_key_double(j, "cycles", g->sum.cycles);
	json_key_double(j, "error_cycles", g->sum.error);
	json_key_double(j, "elsewhere_cycles", g->elsewhere);
	json_key_double(j, "unexplained_cycles", g->sum.unexplained);
	json_key_double(j, "spread_cycles", g->sum.spread);
	json_key(j, "causes");
	json_array(j);
	for (unsigned i = 0; i < STALL_N_CAUSES; i++) {
		json_object(j);
		json_key_str(j, "cause", stall_cause_text(i));
		json_key_double(j, "least_cycles", g->sum.low[i]);
		json_key_double(j, "most_cycles", g->sum.high[i]);
		json_object_end(j);
	}
	json_array_end(j);
	json_key(j, "places");
	json_array(j);
	for (size_t i = 0; i < g->sum.places.n; i++)
		put_json_place(second, j, &g->sum.places.at[i]);
	json_array_end(j);
	json_object_end(j);
}
