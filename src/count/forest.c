/* SPDX-License-Identifier: Apache-2.0 */
#include "count/forest.h"

#include "count/fatal.h"

void forest_clear(struct forest *f)
{
	f->n = 0;
	forest_add(f); /* FOREST_GROUND */
}

void forest_init(struct forest *f, uint32_t *room, uint32_t max)
{
	*f = (struct forest){ room, 0, max };
	forest_clear(f);
}

uint32_t forest_add(struct forest *f)
{
	if (f->n == f->max)
		fatal("too much code to count");
	f->parents[f->n] = f->n;
	return f->n++;
}

static uint32_t find(struct forest *f, uint32_t i)
{
	while (f->parents[i] != i) {
		f->parents[i] = f->parents[f->parents[i]];
		i = f->parents[i];
	}
	return i;
}

bool forest_is_apart(struct forest *f, uint32_t a, uint32_t b)
{
	return find(f, a) != find(f, b);
}

/* Older parts tend to be larger, and stay the root. */
bool forest_join(struct forest *f, uint32_t a, uint32_t b)
{
	uint32_t x = find(f, a), y = find(f, b);

	if (x == y)
		return false;
	if (x < y)
		f->parents[y] = x;
	else
		f->parents[x] = y;
	return true;
}
