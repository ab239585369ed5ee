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
		access_place_init(vec_push(&p->places));
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

void access_places_add(struct access_places *p, uint32_t step,
		       const struct model_access *a)
{
	access_place_add(place_of(p, step), a);
}

double access_places_main_stride(const struct access_place *a, int64_t *ret)
{
	const struct access_place_stride *most = a->strides;

	for (unsigned i = 1; i < ACCESS_PLACE_STRIDES; i++)
		if (a->strides[i].times > most->times)
			most = &a->strides[i];
	if (!a->sums[ACCESS_AGAIN])
		return 0;
	*ret = most->by;
	return (double)most->times / (double)a->sums[ACCESS_AGAIN];
}
