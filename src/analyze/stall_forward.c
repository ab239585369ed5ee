/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_forward.h"

#include <math.h>

#include "analyze/stall_costs.h"

#define LOOK_BACK	24 /* instructions */
#define MAX_BLOCKS_BACK 8
/* Samples after which an address was known: fewer may be one by chance. */
#define LEAST_SEEN 16
#define ALWAYS	   0.999

struct search {
	const struct function_code *c;
	const struct operation *load;
	const struct access_place *place; /* of the load, or NULL */
	struct stall_forward *found;
	unsigned n;
};

/* Back from the load on one way. */
struct path {
	double share;	   /* of the times of the load, that it was come by here */
	unsigned left;	   /* instructions to look at */
	bool has_base;	   /* nothing has written the load's base so far */
	bool is_elsewhere; /* in another block, or another turn */
};

static bool stores(const struct operation *o)
{
	return o->stores || o->pushes;
}

static bool has_index(const struct operation *o)
{
	return o->index != OPERATION_NO_REG;
}

/* Static variables have no base: their places are known, if there is no index, either. */
static bool has_base_or_place(const struct operation *o)
{
	return o->has_memory && !o->has_segment &&
	       (o->base != OPERATION_NO_REG || !has_index(o));
}

/* From the same base on.  What is pushed is stored elsewhere than where it is from. */
static bool is_comparable(const struct operation *store, const struct operation *load)
{
	return !store->pushes && has_base_or_place(store) && has_base_or_place(load) &&
	       store->base == load->base;
}

/* Without indices their distance is known. */
static bool may_overlap(const struct operation *store, const struct operation *load)
{
	return has_index(store) || has_index(load) ||
	       (store->disp < load->disp + load->width &&
		load->disp < store->disp + store->width);
}

/* All of its lines were seen, and not by chance. */
static bool is_well_known(const struct access_place *p)
{
	return p && p->samples >= LEAST_SEEN && p->lines.n && p->lines.n < DISTINCT_MAX &&
	       p->low <= p->high;
}

static double all_times(const struct distinct *d)
{
	double all = 0;

	for (uint32_t i = 0; i < d->n; i++)
		all += (double)d->kept[i].times;
	return all;
}

/* The share of the times that both were in the same line, at most: whichever was there
 * the more seldom was so only while the other one was. */
static double share_of_lines(const struct distinct *a, const struct distinct *b)
{
	double all_a = all_times(a), all_b = all_times(b), both = 0;

	if (all_a <= 0 || all_b <= 0)
		return 0;
	for (uint32_t i = 0, k = 0; i < a->n && k < b->n;) {
		const struct distinct_value *x = &a->kept[i], *y = &b->kept[k];

		if (x->hash == y->hash)
			both += fmin((double)x->times / all_a, (double)y->times / all_b);
		i += x->hash <= y->hash;
		k += y->hash <= x->hash;
	}
	return both;
}

static double seen_together(const struct search *s, uint32_t store)
{
	const struct access_place *p = access_places_of(&s->c->accesses, store);
	const struct operation *o = &s->c->steps[store].operation;

	if (!is_well_known(p) || !is_well_known(s->place) ||
	    p->low >= s->place->high + s->load->width ||
	    s->place->low >= p->high + o->width)
		return 0;
	return share_of_lines(&p->lines, &s->place->lines);
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

/* A store on the path; true: it is the last one before the load, whatever is before. */
static bool meet(struct search *s, uint32_t store, const struct path *p)
{
	const struct operation *o = &s->c->steps[store].operation;
	double seen;

	if (p->has_base && is_comparable(o, s->load)) {
		bool may = may_overlap(o, s->load);

		if (may && (!p->is_elsewhere || !is_within(s->load, o)))
			note(s, store, p->share);
		return may;
	}
	seen = seen_together(s, store);
	if (seen > 0)
		note(s, store, p->share * seen);
	return seen >= ALWAYS;
}

/* Back from the step before `from` to `first`; false: there is nothing more to look for
 * on this way. */
static bool look_back(struct search *s, uint32_t first, uint32_t from, struct path *p)
{
	for (uint32_t i = from; i > first; i--) {
		const struct operation *o = &s->c->steps[i - 1].operation;

		if (!p->left)
			return false;
		p->left--;
		if (stores(o) && meet(s, i - 1, p))
			return false;
		if (s->load->base < OPERATION_N_GENERAL &&
		    operation_has_register(o->writes, s->load->base))
			p->has_base = false;
		if (!p->has_base && !s->place)
			return false;
	}
	return true;
}

static void look_at_ways(struct search *s, uint32_t block, uint32_t step,
			 const struct path *path, unsigned depth)
{
	const struct procedure *p = s->c->procedure;
	const struct procedure_block *b = &p->blocks[block];
	double all = 0;

	for (uint32_t i = 0; i < b->n_in; i++)
		all += function_code_taken(s->c, p->ways_in[b->first_in + i]);
	for (uint32_t i = 0; i < b->n_in && all > 0; i++) {
		uint32_t way = p->ways_in[b->first_in + i], from = p->ways[way].from;
		struct path back = *path;
		const struct procedure_block *f;
		uint32_t first;

		back.is_elsewhere = true;
		back.share *= function_code_taken(s->c, way) / all;
		if (from == PROCEDURE_OUTSIDE || back.share < STALL_COSTS_LEAST_PART)
			continue;
		f = &p->blocks[from];
		/* What is before the load in its own block was looked at before. */
		first = step >= f->first_step && step < f->first_step + f->n_steps
				? step
				: f->first_step;
		if (look_back(s, first, f->first_step + f->n_steps, &back) &&
		    depth < MAX_BLOCKS_BACK && back.left > first - f->first_step) {
			back.left -= first - f->first_step;
			look_at_ways(s, from, step, &back, depth + 1);
		}
	}
}

unsigned stall_forward_find(const struct function_code *c, uint32_t block, uint32_t step,
			    struct stall_forward ret[STALL_FORWARD_MAX])
{
	struct search s = { .c = c,
			    .load = &c->steps[step].operation,
			    .place = access_places_of(&c->accesses, step),
			    .found = ret };
	struct path p = { .share = 1, .left = LOOK_BACK, .has_base = true };

	if (look_back(&s, c->procedure->blocks[block].first_step, step, &p))
		look_at_ways(&s, block, step, &p, 1);
	return s.n;
}
