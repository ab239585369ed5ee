/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/access_places.h"

#include <stdlib.h>

#include "base/mem.h"

void access_places_init(struct access_places *p, uint32_t n_steps)
{
	*p = (struct access_places){ .n_steps = n_steps };
}

void access_places_fini(struct access_places *p)
{
	vec_fini(&p->places);
	free(p->of_step);
	p->of_step = NULL;
}

static struct access_place *place_of(struct access_places *p, uint32_t step)
{
	if (!p->of_step)
		p->of_step = xcalloc(p->n_steps + 1, sizeof(*p->of_step));
	if (!p->of_step[step]) {
		*vec_push(&p->places) =
			(struct access_place){ .step = step, .low = UINT64_MAX };
		p->of_step[step] = (uint32_t)p->places.n;
	}
	return &p->places.at[p->of_step[step] - 1];
}

const struct access_place *access_places_of(const struct access_places *p, uint32_t step)
{
	if (!p->of_step || !p->of_step[step])
		return NULL;
	return &p->places.at[p->of_step[step] - 1];
}

/* Of several recordings, or processes; the rarest makes room. */
static void add_stride(struct access_place *a, int64_t by, uint64_t times)
{
	struct access_places_stride *least = a->strides;

	for (unsigned i = 0; i < ACCESS_PLACES_STRIDES; i++) {
		struct access_places_stride *s = &a->strides[i];

		if (s->times && s->by == by) {
			s->times += times;
			return;
		}
		if (s->times < least->times)
			least = s;
	}
	if (times > least->times)
		*least = (struct access_places_stride){ by, times };
}

void access_places_add(struct access_places *p, uint32_t step,
		       const struct model_access *a)
{
	struct access_place *to = place_of(p, step);

	if (a->what >= ACCESS_N_WHATS)
		return;
	to->sums[a->what] += a->times;
	switch (a->what) {
	case ACCESS_MET:
		to->samples += a->value;
		break;
	case ACCESS_LINE:
		distinct_add(&to->lines, (uint32_t)a->value, a->times);
		break;
	case ACCESS_PAGE:
		distinct_add(&to->pages, (uint32_t)a->value, a->times);
		break;
	case ACCESS_STRIDE:
		add_stride(to, (int64_t)(a->value >> 1 ^ -(a->value & 1)), a->times);
		break;
	case ACCESS_LOWEST:
		to->low = a->value < to->low ? a->value : to->low;
		break;
	case ACCESS_HIGHEST:
		to->high = a->value > to->high ? a->value : to->high;
		break;
	}
}

double access_places_main_stride(const struct access_place *a, int64_t *ret)
{
	const struct access_places_stride *most = a->strides;

	for (unsigned i = 1; i < ACCESS_PLACES_STRIDES; i++)
		if (a->strides[i].times > most->times)
			most = &a->strides[i];
	if (!a->sums[ACCESS_AGAIN])
		return 0;
	*ret = most->by;
	return (double)most->times / (double)a->sums[ACCESS_AGAIN];
}
