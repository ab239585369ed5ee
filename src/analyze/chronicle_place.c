/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/chronicle_place.h"

#include <stdlib.h>

/* What a cell has of a function: however often it is on a stack, that counts once. */
struct inside {
	uint32_t function;
	size_t last; /* of the times, that which was added last, + 1 */
	double ns, depth_ns;
};

struct cell {
	struct map places; /* function to the place in `all` */
	VEC(struct inside) all;
	double ns;
};

void chronicle_place_init(struct chronicle_place *p)
{
	*p = (struct chronicle_place){ .stacks = intern_new() };
}

void chronicle_place_fini(struct chronicle_place *p)
{
	intern_free(p->stacks);
	map_fini(&p->found);
	vec_fini(&p->times);
	vec_fini(&p->path);
}

uint32_t chronicle_place_stack(struct chronicle_place *p, const struct profile_sample *s)
{
	vec_clear(&p->path);
	for (size_t i = 0; i < s->n_frames; i++)
		*vec_push(&p->path) = s->frames[i].function;
	return intern_add(p->stacks, (const char *)p->path.at,
			  p->path.n * sizeof(*p->path.at));
}

void chronicle_place_add(struct chronicle_place *p, uint32_t cell, uint32_t stack,
			 double ns)
{
	bool is_new;
	uint64_t *at = map_slot(&p->found, (uint64_t)cell << 32 | stack, &is_new);

	if (is_new) {
		*at = p->times.n;
		*vec_push(&p->times) = (struct chronicle_place_time){ cell, stack, 0 };
	}
	p->times.at[*at].ns += ns;
}

static int by_cell(const void *a, const void *b)
{
	const struct chronicle_place_time *x = a, *y = b;

	if (x->cell != y->cell)
		return x->cell < y->cell ? -1 : 1;
	return (x->stack > y->stack) - (x->stack < y->stack);
}

static struct inside *inside_of(struct cell *c, uint32_t function)
{
	bool is_new;
	uint64_t *at = map_slot(&c->places, function, &is_new);

	if (is_new) {
		*at = c->all.n;
		*vec_push(&c->all) = (struct inside){ .function = function };
	}
	return &c->all.at[*at];
}

static void add_stack(struct cell *c, const struct chronicle_place *p, size_t i)
{
	const struct chronicle_place_time *t = &p->times.at[i];
	const uint32_t *path = (const uint32_t *)intern_get(p->stacks, t->stack);
	size_t n = intern_len(p->stacks, t->stack) / sizeof(*path);

	c->ns += t->ns;
	for (size_t k = 0; k < n; k++) {
		struct inside *x = inside_of(c, path[k]);

		if (x->last != i + 1) {
			x->last = i + 1;
			x->ns += t->ns;
			x->depth_ns += t->ns * (double)k;
		}
	}
}

/* Those that have more than half share stacks: they are within each other. */
static const struct inside *innermost(const struct cell *c)
{
	const struct inside *best = NULL;

	vec_each(x, &c->all)
		if (2 * x->ns > c->ns &&
		    (!best || x->depth_ns / x->ns > best->depth_ns / best->ns))
			best = x;
	return best;
}

static void end_cell(struct cell *c, uint32_t cell, chronicle_place_fn *fn, void *ctx)
{
	const struct inside *best = innermost(c);

	if (best)
		fn(ctx, cell, best->function, best->ns);
	map_clear(&c->places);
	vec_clear(&c->all);
	c->ns = 0;
}

void chronicle_place_find(struct chronicle_place *p, chronicle_place_fn *fn, void *ctx)
{
	struct cell c = { .ns = 0 };

	if (p->times.n)
		qsort(p->times.at, p->times.n, sizeof(*p->times.at), by_cell);
	for (size_t i = 0; i < p->times.n; i++) {
		add_stack(&c, p, i);
		if (i + 1 == p->times.n || p->times.at[i + 1].cell != p->times.at[i].cell)
			end_cell(&c, p->times.at[i].cell, fn, ctx);
	}
	map_fini(&c.places);
	vec_fini(&c.all);
}
