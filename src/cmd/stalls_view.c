/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/stalls_view.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/function_index.h"
#include "analyze/names.h"
#include "base/mem.h"
#include "cmd/report_options.h"
#include "host/clock.h"

#define NS_PER_S 1e9

void stalls_view_fini(struct stalls_view *v)
{
	vec_fini(&v->rows);
	vec_fini(&v->places);
}

/* What is meant. */

static bool is_function(const struct profile *p, const char *name)
{
	for (uint32_t i = 0; i < profile_n_functions(p); i++)
		if (names_is_function(profile_function(p, i)->name, name))
			return true;
	return false;
}

static bool is_image(const struct profile *p, const char *name)
{
	for (uint32_t i = 0; i < profile_n_functions(p); i++)
		if (strcmp(profile_function(p, i)->image, name) == 0)
			return true;
	return false;
}

/* Several recordings are as many runs. */
static int find_time(struct stalls_view *v, struct err *e)
{
	const struct profile *p = v->r->profile;
	for (size_t i = time_column_find(p, 0); i != TIME_COLUMN_NONE;
	     i = time_column_find(p, i + 1)) {
		v->time = profile_column(p, i)->name;
		v->all_samples += profile_column(p, i)->total_count;
	}
	if (v->time)
		return 0;
	return err_set(e, ERR_UNSUPPORTED,
		       "no samples of cpu-time, or of cycles: record them with 'dwell "
		       "run --insn -e "
		       "usertime'");
}

/* Functions by their samples. */

struct candidate {
	uint32_t function;
	uint64_t samples;
};

struct candidates {
	VEC(struct candidate) all;
};

static void candidates_fini(struct candidates *c)
{
	vec_fini(&c->all);
}

static int most_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static uint64_t samples_of(const struct profile *p, const struct function_index *x,
			   uint32_t function)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile_n_columns(p); i++)
		sum += time_column_is(p, i) ? function_index_samples(x, function, i) : 0;
	return sum;
}

/* What is in nobody's code is left out. */
static void list_candidates(struct stalls_view *v, const struct function_index *x,
			    uint32_t only, struct candidates *ret)
{
	const struct profile *p = v->r->profile;
	uint64_t all = 0;

	for (uint32_t i = 0; i < profile_n_functions(p); i++) {
		const struct profile_function *f = profile_function(p, i);
		uint64_t n = samples_of(p, x, i);

		if (v->kind == STALLS_OF_FUNCTION ? i == only
						  : n && (v->kind == STALLS_ALL ||
							  strcmp(f->image, v->name) == 0))
			*vec_push(&ret->all) = (struct candidate){ i, n };
		all += n;
	}
	if (v->kind == STALLS_ALL && all < v->all_samples)
		v->without_code.samples = v->all_samples - all;
	if (ret->all.n)
		qsort(ret->all.at, ret->all.n, sizeof(*ret->all.at), most_first);
}

/* Stalls. */

static void keep_place(struct stalls_view *v, const struct function_code *c,
		       const struct stalls *s, uint32_t function, uint32_t block,
		       uint32_t step)
{
	struct stall_place place;

	if (stall_place_take(&place, c, function, s, block, step))
		*vec_push(&v->places) = place;
}

static void keep_places(struct stalls_view *v, const struct function_code *c,
			const struct stalls *s, uint32_t function)
{
	const struct procedure *p = c->procedure;

	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct procedure_block *b = &p->blocks[i];

		keep_place(v, c, s, function, i, PROCEDURE_OUTSIDE);
		for (uint32_t k = b->first_step; k < b->first_step + b->n_steps; k++)
			keep_place(v, c, s, function, i, k);
	}
}

static void leave_out(struct stalls_left *to, uint64_t samples)
{
	to->n++;
	to->samples += samples;
}

/* Who tells how often its instructions were executed. */
static void note_how(struct how_often *how, const struct function_code *c)
{
	if (!c->is_estimated)
		return;
	if (!how->is_estimated)
		how->least = how->most = c->confidence;
	how->is_estimated = true;
	how->n_windows = c->n_windows ? c->n_windows : how->n_windows;
	how->retired_samples += c->retired_high > 0 ? c->retired_samples : 0;
	how->least = c->confidence < how->least ? c->confidence : how->least;
	how->most = c->confidence > how->most ? c->confidence : how->most;
}

/* What is told of it, and of all. */
static void keep_row(struct stalls_view *v, struct stalls_row *row,
		     const struct function_code *c)
{
	struct stall_scales scales = { 0 };

	stall_sum_merge(&v->total, &row->sum);
	stall_sum_settle(&row->sum);
	if (c->is_estimated) {
		stall_scales_add(&scales, c);
		stall_scales_merge(&v->scales, &scales);
		stall_scales_settle(&scales);
	}
	stalls_lines_make(&row->lines, &row->sum, c->is_estimated ? &scales : NULL);
	*vec_push(&v->rows) = *row;
}

static int look_at(struct stalls_view *v, const struct candidate *of,
		   const struct function_code_options *o, bool with_places, struct err *e)
{
	own(function_code_fini) struct function_code c = { 0 };
	own(stall_fini) struct stalls s = { 0 };
	struct stalls_row row = { .function = of->function };
	int rc = function_code_make(&c, v->r->profile, of->function, o, e);

	if (rc == ERR_USAGE || (rc < 0 && v->kind == STALLS_OF_FUNCTION))
		return rc;
	if (rc < 0) {
		leave_out(&v->without_code, of->samples);
		return 0;
	}
	if (!c.samples)
		return 0;
	v->clock_ghz = c.clock_ghz > 0 ? c.clock_ghz : v->clock_ghz;
	stall_find_all(&s, &c);
	if (!stall_sum_add(&row.sum, &c, &s)) {
		leave_out(&v->uncounted, of->samples);
		return 0;
	}
	v->model = c.model ? c.model : v->model;
	v->is_nearest_model |= c.is_nearest_model;
	v->runs = function_code_runs(&c);
	note_how(&v->how, &c);
	keep_row(v, &row, &c);
	if (with_places)
		keep_places(v, &c, &s, of->function);
	return 0;
}

static int by_cycles(const void *a, const void *b)
{
	const struct stall_place *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

static int look_at_all(struct stalls_view *v, const struct candidates *of,
		       const struct stalls_choice *choice,
		       const struct function_index *index, struct err *e)
{
	struct function_code_options o = { .model = choice->model,
					   .clock_ghz = choice->clock_ghz,
					   .index = index };
	uint64_t started = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	int rc = 0;

	for (size_t i = 0; i < of->all.n && rc == 0; i++) {
		uint64_t spent = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - started;

		if (choice->seconds > 0 && (double)spent > choice->seconds * NS_PER_S)
			leave_out(&v->late, of->all.at[i].samples);
		else
			rc = look_at(v, &of->all.at[i], &o, choice->with_places, e);
	}
	stall_sum_settle(&v->total);
	stall_scales_settle(&v->scales);
	stalls_lines_make(&v->lines, &v->total, v->how.is_estimated ? &v->scales : NULL);
	v->how.low = v->total.instructions_low;
	v->how.high = v->total.instructions_high;
	if (v->places.n)
		qsort(v->places.at, v->places.n, sizeof(*v->places.at), by_cycles);
	return rc;
}

static int choose(struct stalls_view *v, const char *name, uint32_t *function,
		  struct err *e)
{
	const struct profile *p = v->r->profile;
	struct report_function f = { 0 };
	int rc = 0;

	v->name = name ? name : "all";
	if (!name || (strcmp(name, "all") == 0 && !is_function(p, name))) {
		v->kind = STALLS_ALL;
	} else if (is_image(p, name) && !is_function(p, name)) {
		v->kind = STALLS_OF_IMAGE;
	} else {
		v->kind = STALLS_OF_FUNCTION;
		rc = report_profile_find_function(v->r, name, &f, e);
		*function = f.id;
	}
	return rc;
}

/* What is so of most of what was sampled. */
static const char *reason(const struct stalls_view *v)
{
	const struct {
		const struct stalls_left *left;
		const char *text;
	} reasons[] = {
		{ &v->uncounted,
		  "the counts have nothing of what was sampled, or there is no model of "
		  "such a machine" },
		{ &v->without_code, "the code of what was sampled is not at hand" },
	};
	const char *ret = "nothing was sampled";
	struct stalls_left most = { 0 };

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		const struct stalls_left *left = reasons[i].left;

		if (left->samples > most.samples || (left->n && !most.n)) {
			ret = reasons[i].text;
			most = *left;
		}
	}
	return ret;
}

/* Why there is nothing to tell. */
static int tell_why(const struct stalls_view *v, struct err *e)
{
	const char *whose = v->kind == STALLS_ALL ? "" : v->name;
	const char *colon = v->kind == STALLS_ALL ? "" : ": ";

	return err_set(e, ERR_UNSUPPORTED, "%.100s%s%s", whose, colon, reason(v));
}

int stalls_view_init(struct stalls_view *ret, const struct report *r,
		     const struct stalls_choice *choice, struct err *e)
{
	own(candidates_fini) struct candidates of = { 0 };
	own(function_index_freep) struct function_index *index = NULL;
	uint32_t function = 0;
	int rc;

	*ret = (struct stalls_view){ .r = r, .limit = choice->limit };
	rc = find_time(ret, e);
	if (rc == 0)
		rc = choose(ret, choice->name, &function, e);
	if (rc == 0)
		rc = function_code_index(r->profile, &index, e);
	if (rc < 0)
		return rc;
	list_candidates(ret, index, function, &of);
	rc = look_at_all(ret, &of, choice, index, e);
	return rc < 0 || ret->rows.n ? rc : tell_why(ret, e);
}

size_t stalls_view_shown(const struct stalls_view *v, size_t n)
{
	return report_options_shown(v->limit, n);
}
