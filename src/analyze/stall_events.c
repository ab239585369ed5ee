/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_events.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/stall_costs.h"
#include "base/mem.h"
#include "base/vec.h"

#define WINDOW 512 /* instructions under way at once, of a machine without a model */
/* An interrupt is asked for, and comes when some tens of cycles have passed, in each of
 * which several instructions may retire. */
#define BEHIND 128
#define RARE   0.01 /* of the times of a place: so rare ways from there do not matter */
/* As many may have been there as samples by chance seldom show so few of: about one of
 * twenty. */
#define DEVIATIONS 2.0

static double most_by_chance(double n)
{
	return n + 1 + DEVIATIONS * sqrt(n + 1);
}

/* The instructions within so many of a place, one way. */
struct region {
	const struct function_code *c;
	bool *has;	    /* [step] */
	uint32_t *far;	    /* [block]: the least distance it was come to */
	VEC(uint32_t) todo; /* blocks */
	double rare;	    /* times */
	uint32_t max;	    /* instructions */
	bool is_back, leads_out;
};

static void region_fini(struct region *r)
{
	free(r->has);
	free(r->far);
	vec_fini(&r->todo);
}

/* Of a block from one of its steps on; how many are left to go, 0: it ends here. */
static uint32_t go_over(struct region *r, uint32_t block, uint32_t step, uint32_t left)
{
	const struct procedure *p = r->c->procedure;
	const struct procedure_block *b = &p->blocks[block];
	uint32_t end = r->is_back ? b->first_step : b->first_step + b->n_steps;

	for (; left; left--) {
		if (!r->is_back && step == end)
			return left;
		r->has[step] = true;
		/* Whatever is called, what landed there is not known. */
		r->leads_out |= code_step_is_call(&p->steps[step]);
		if (r->is_back && step == end)
			return left - 1;
		step += r->is_back ? -1 : 1;
	}
	return 0;
}

/* To the blocks that lead here, or that this one leads to. */
static void go_on(struct region *r, uint32_t block, uint32_t left)
{
	const struct procedure *p = r->c->procedure;
	const struct procedure_block *b = &p->blocks[block];
	uint32_t n = r->is_back ? b->n_in : b->n_out;

	r->leads_out |= r->is_back ? b->has_unknown_ways_in : b->has_unknown_ways_out;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t way =
			r->is_back ? p->ways_in[b->first_in + i] : b->first_out + i;
		uint32_t next = r->is_back ? p->ways[way].from : p->ways[way].to;

		if (function_code_taken(r->c, way) < r->rare)
			continue;
		if (next == PROCEDURE_OUTSIDE) {
			r->leads_out = true;
		} else if (r->max - left < r->far[next]) {
			r->far[next] = r->max - left;
			*vec_push(&r->todo) = next;
		}
	}
}

static void spread(struct region *r, uint32_t block, uint32_t step, bool is_back,
		   uint32_t max)
{
	const struct procedure *p = r->c->procedure;
	uint32_t left;

	r->is_back = is_back;
	r->max = max;
	for (uint32_t i = 0; i < p->n_blocks; i++)
		r->far[i] = UINT32_MAX;
	left = go_over(r, block, step, max);
	if (left)
		go_on(r, block, left);
	for (size_t i = 0; i < r->todo.n; i++) {
		uint32_t next = r->todo.at[i];
		const struct procedure_block *b = &p->blocks[next];

		left = max - r->far[next];
		if (b->n_steps)
			left = go_over(r, next,
				       is_back ? b->first_step + b->n_steps - 1
					       : b->first_step,
				       left);
		if (left)
			go_on(r, next, left);
	}
	vec_clear(&r->todo);
}

/* Samples of an event that may be of this place. */
static double samples_near(const struct function_code *c,
			   const struct miss_samples_event *e, uint32_t block,
			   uint32_t step)
{
	const struct procedure *p = c->procedure;
	uint32_t before = c->model ? c->model->window : WINDOW;
	own(region_fini) struct region r = {
		.c = c,
		.has = xcalloc(p->n_steps + 1, sizeof(*r.has)),
		.far = xcalloc(p->n_blocks + 1, sizeof(*r.far)),
		.rare = RARE * c->blocks[block].times,
	};
	double n = 0;

	/* It is the instruction, or the next one. */
	spread(&r, block, step, false, e->is_precise ? 2 : BEHIND);
	if (!e->is_precise)
		spread(&r, block, step, true, before);
	if (r.leads_out)
		return e->all;
	for (uint32_t i = 0; i < p->n_steps; i++)
		n += r.has[i] ? e->of_step[i] : 0;
	return n;
}

struct stall_events_bound stall_events_most(const struct function_code *c,
					    enum stall_cause cause, uint32_t block,
					    uint32_t step, double times)
{
	struct stall_events_bound least = { .most = -1 };

	for (unsigned i = 0; i < c->misses.n && times > 0; i++) {
		const struct miss_samples_event *e = &c->misses.events[i];
		double n, most;

		if (e->name->cause != cause)
			continue;
		n = most_by_chance(samples_near(c, e, block, step)) * e->each;
		most = n * function_code_runs(c) / e->n_runs / times * e->name->worst +
		       e->name->near;
		if (least.most < 0 || most < least.most)
			least = (struct stall_events_bound){ most, e->column };
	}
	return least;
}
