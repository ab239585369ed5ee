/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_forward.h"

#include <math.h>

#include "analyze/stall_costs.h"

#define LOOK_BACK	24 /* instructions */
#define MAX_BLOCKS_BACK 8

struct search {
	const struct function_code *c;
	const struct operation *load;
	struct stall_forward *found;
	unsigned n;
};

static bool stores(const struct operation *o)
{
	return o->stores || o->pushes;
}

static bool has_index(const struct operation *o)
{
	return o->index != OPERATION_NO_REG;
}

/* From the same base on; without indices their distance is known. */
static bool may_overlap(const struct operation *store, const struct operation *load)
{
	if (!store->has_memory || !load->has_memory || store->base != load->base ||
	    store->base == OPERATION_NO_REG)
		return false;
	return has_index(store) || has_index(load) ||
	       (store->disp < load->disp + load->width &&
		load->disp < store->disp + store->width);
}

/* All the load's bytes are of the store: then it has them as soon as that has, as the
 * best case knows. */
static bool is_within(const struct operation *load, const struct operation *store)
{
	return !has_index(store) && !has_index(load) && store->disp <= load->disp &&
	       load->disp + load->width <= store->disp + store->width;
}

static void note(struct search *s, uint32_t store, double share)
{
	unsigned least = 0;

	for (unsigned i = 0; i < s->n; i++) {
		if (s->found[i].store == store) {
			s->found[i].share = fmin(1, s->found[i].share + share);
			return;
		}
		if (s->found[i].share < s->found[least].share)
			least = i;
	}
	if (s->n < STALL_FORWARD_MAX)
		least = s->n++;
	else if (s->found[least].share >= share)
		return;
	s->found[least] = (struct stall_forward){ .store = store, .share = share };
}

/* Back from the step before `from` to `first`; false: there is nothing more to look for
 * on this way.  is_elsewhere: in another block, or another turn. */
static bool look_back(struct search *s, uint32_t first, uint32_t from, bool is_elsewhere,
		      double share, unsigned *left)
{
	for (uint32_t i = from; i > first; i--) {
		const struct operation *o = &s->c->steps[i - 1].operation;

		if (!*left)
			return false;
		--*left;
		if (stores(o) && may_overlap(o, s->load)) {
			if (!is_elsewhere || !is_within(s->load, o))
				note(s, i - 1, share);
			return false;
		}
		if (s->load->base < OPERATION_N_GENERAL &&
		    operation_has_register(o->writes, s->load->base))
			return false;
	}
	return true;
}

/* share: of the times of the load, that it was come by here. */
static void look_at_ways(struct search *s, uint32_t block, uint32_t step, double share,
			 unsigned left, unsigned depth)
{
	const struct procedure *p = s->c->procedure;
	const struct procedure_block *b = &p->blocks[block];
	double all = 0;

	for (uint32_t i = 0; i < b->n_in; i++)
		all += function_code_taken(s->c, p->ways_in[b->first_in + i]);
	for (uint32_t i = 0; i < b->n_in && all > 0; i++) {
		uint32_t way = p->ways_in[b->first_in + i], from = p->ways[way].from;
		double part = share * function_code_taken(s->c, way) / all;
		const struct procedure_block *f;
		unsigned n = left;
		uint32_t first;

		if (from == PROCEDURE_OUTSIDE || part < STALL_COSTS_LEAST_PART)
			continue;
		f = &p->blocks[from];
		/* What is before the load in its own block was looked at before. */
		first = step >= f->first_step && step < f->first_step + f->n_steps
				? step
				: f->first_step;
		if (look_back(s, first, f->first_step + f->n_steps, true, part, &n) &&
		    depth < MAX_BLOCKS_BACK && n > first - f->first_step)
			look_at_ways(s, from, step, part, n - (first - f->first_step),
				     depth + 1);
	}
}

unsigned stall_forward_find(const struct function_code *c, uint32_t block, uint32_t step,
			    struct stall_forward ret[STALL_FORWARD_MAX])
{
	struct search s = { .c = c, .load = &c->steps[step].operation, .found = ret };
	unsigned left = LOOK_BACK;

	if (look_back(&s, c->procedure->blocks[block].first_step, step, false, 1, &left))
		look_at_ways(&s, block, step, 1, left, 1);
	return s.n;
}
