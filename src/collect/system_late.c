/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_late.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"

struct places {
	VEC(struct stack_record_late_place) all;
	struct map at; /* pc → index in all */
};

static void add_place(struct places *p, const struct stack_record_late_place *from)
{
	bool is_new;
	uint64_t *at = map_slot(&p->at, from->pc, &is_new);

	if (is_new) {
		*at = p->all.n;
		*vec_push(&p->all) = (struct stack_record_late_place){ .pc = from->pc };
	}
	p->all.at[*at].count += from->count;
}

static int by_count(const void *a, const void *b)
{
	const struct stack_record_late_place *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static void take_first(struct places *p, struct system_late *ret)
{
	if (p->all.n)
		qsort(p->all.at, p->all.n, sizeof(*p->all.at), by_count);
	for (size_t i = 0; i < p->all.n && i < SYSTEM_LATE_PLACES; i++)
		ret->places[i] = p->all.at[i];
}

void system_late_sum(const struct stack_record_late *late, uint32_t n_cpus,
		     struct system_late *ret)
{
	struct places places = { 0 };

	*ret = (struct system_late){ 0 };
	for (uint32_t c = 0; c < n_cpus; c++) {
		const struct stack_record_late *l = &late[c];

		for (unsigned i = 0; i < STACK_RECORD_LATE_STEPS; i++)
			ret->steps[i] += l->steps[i];
		ret->n_late += l->late;
		ret->late_ns += l->late_ns;
		ret->n_user += l->late_user;
		for (unsigned i = 0; i < STACK_RECORD_LATE_PLACES; i++)
			if (l->places[i].count)
				add_place(&places, &l->places[i]);
	}
	take_first(&places, ret);
	vec_fini(&places.all);
	map_fini(&places.at);
}

uint64_t system_late_within_ns(const uint64_t steps[STACK_RECORD_LATE_STEPS],
			       uint64_t per_mille)
{
	uint64_t n = 0, sum = 0;

	for (unsigned i = 0; i < STACK_RECORD_LATE_STEPS; i++)
		n += steps[i];
	for (unsigned i = 0; n && i < STACK_RECORD_LATE_STEPS; i++) {
		sum += steps[i];
		if (sum * 1000 >= n * per_mille)
			return (uint64_t)STACK_RECORD_LATE_STEP_NS << i;
	}
	return 0;
}
