/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_forest.h"

#include "base/mem.h"

void count_forest_init(struct count_forest *f)
{
	*f = (struct count_forest){ 0 };
	vec_push(&f->ways);
	*vec_push(&f->noted) = 0;
	count_forest_add(f);
}

void count_forest_fini(struct count_forest *f)
{
	vec_fini(&f->parts);
	vec_fini(&f->ways);
	vec_fini(&f->noted);
	vec_fini(&f->turning);
}

uint32_t count_forest_add(struct count_forest *f)
{
	uint32_t i = (uint32_t)f->parts.n;

	*vec_push(&f->parts) = (struct count_forest_part){ .set = i, .n_set = 1 };
	return i;
}

/* Joining. */

static uint32_t set_of(struct count_forest *f, uint32_t part)
{
	struct count_forest_part *p = f->parts.at;

	while (p[part].set != part) {
		p[part].set = p[p[part].set].set;
		part = p[part].set;
	}
	return part;
}

/* Away from a part that has its place, all that hangs on the other end of the way. */
static void turn(struct count_forest *f, uint32_t way, uint32_t from)
{
	const struct count_forest_way *w = &f->ways.at[way];
	uint32_t to = w->part[w->part[0] == from];
	struct count_forest_part *p = &f->parts.at[to];

	p->up = way;
	p->depth = f->parts.at[from].depth + 1;
	if (p->depth >= f->noted.n)
		*vec_push(&f->noted) = 0;
	*vec_push(&f->turning) = to;
}

static void turn_all(struct count_forest *f, uint32_t way, uint32_t from)
{
	turn(f, way, from);
	while (f->turning.n) {
		uint32_t part = f->turning.at[--f->turning.n], next;

		for (uint32_t end = f->parts.at[part].first; end; end = next) {
			next = f->ways.at[end / 2].next[end % 2];
			if (end / 2 != f->parts.at[part].up)
				turn(f, end / 2, part);
		}
	}
}

static void hang(struct count_forest *f, uint32_t part, uint32_t way, unsigned end)
{
	f->ways.at[way].next[end] = f->parts.at[part].first;
	f->parts.at[part].first = way * 2 + end;
}

/* Outside stays a root, and each part is turned away from it once; else one that is
 * turned is of a tree twice as large then. */
bool count_forest_join(struct count_forest *f, uint32_t from, uint32_t to, uint32_t user)
{
	uint32_t a = set_of(f, from), b = set_of(f, to), outside = set_of(f, 0);
	uint32_t way = (uint32_t)f->ways.n;
	bool stays_from = b != outside &&
			  (a == outside || f->parts.at[a].n_set >= f->parts.at[b].n_set);

	if (a == b)
		return false;
	*vec_push(&f->ways) =
		(struct count_forest_way){ .part = { from, to }, .user = user };
	turn_all(f, way, stays_from ? from : to);
	hang(f, from, way, 0);
	hang(f, to, way, 1);
	f->parts.at[stays_from ? b : a].set = stays_from ? a : b;
	f->parts.at[stays_from ? a : b].n_set += f->parts.at[stays_from ? b : a].n_set;
	return true;
}

/* Telling. */

static void add(struct count_forest *f, uint32_t part, uint64_t n)
{
	struct count_forest_part *p = &f->parts.at[part];

	p->balance = (int64_t)((uint64_t)p->balance + n); /* foreign numbers wrap */
	if (!part || p->is_noted)
		return;
	p->is_noted = true;
	p->next = f->noted.at[p->depth];
	f->noted.at[p->depth] = part;
}

void count_forest_flow(struct count_forest *f, uint32_t from, uint32_t to, uint64_t n)
{
	add(f, from, -n);
	add(f, to, n);
}

/* The first that is noted at that depth, and its balance, which is gone then. */
static bool take(struct count_forest *f, size_t depth, uint32_t *ret_part, int64_t *ret_n)
{
	uint32_t part = f->noted.at[depth];
	struct count_forest_part *p = &f->parts.at[part];

	if (!part)
		return false;
	f->noted.at[depth] = p->next;
	*ret_part = part;
	*ret_n = p->balance;
	p->balance = 0;
	p->is_noted = false;
	return true;
}

uint64_t count_forest_tell(struct count_forest *f, count_forest_fn *fn, void *ctx)
{
	uint64_t n_unbalanced = 0;
	uint32_t part;
	int64_t n;

	for (size_t depth = f->noted.n - 1; depth; depth--)
		while (take(f, depth, &part, &n)) {
			const struct count_forest_way *w =
				&f->ways.at[f->parts.at[part].up];
			bool is_from = w->part[0] == part;

			if (!n)
				continue;
			add(f, w->part[is_from], (uint64_t)n);
			fn(ctx, w->user, is_from ? n : (int64_t) - (uint64_t)n);
		}
	while (take(f, 0, &part, &n))
		n_unbalanced += n < 0 ? -(uint64_t)n : (uint64_t)n;
	f->parts.at[0].balance = 0;
	return n_unbalanced;
}
