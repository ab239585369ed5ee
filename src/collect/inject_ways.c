/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_ways.h"

#include "base/vec.h"
#include "collect/inject_place.h"
#include "collect/inject_symbols.h"

void inject_ways_fini(struct inject_ways *w)
{
	inject_objects_fini(&w->objects);
	inject_slots_fini(&w->slots);
	inject_cells_fini(&w->cells);
	inject_inner_fini(&w->inner);
}

void inject_ways_find(struct inject_ways *w, const struct inject_calls *c,
		      const struct inject_memory *m, const char *maps, size_t maps_bytes)
{
	inject_slots_find(&w->slots, c, m, &w->objects);
	inject_cells_find(&w->cells, m, &w->objects, maps, maps_bytes);
	inject_inner_find(&w->inner, c, m, maps, maps_bytes);
}

void inject_ways_copy(const struct inject_ways *w, struct inject_ways *ret)
{
	*ret = (struct inject_ways){ 0 };
	vec_each(slot, &w->slots.of)
		*vec_push(&ret->slots.of) = *slot;
}

bool inject_ways_renew(struct inject_ways *w, struct inject_calls *c,
		       const struct inject_memory *m, uint64_t debug)
{
	struct inject_objects now = { 0 };
	bool is_new = inject_objects_read(m, debug, &now, NULL) == 0 && now.is_settled &&
		      !inject_objects_are_same(&now, &w->objects);

	if (is_new) {
		struct inject_objects before = w->objects;

		inject_calls_find_more(c, m, &before, &now);
		w->objects = now;
		now = before;
	}
	inject_objects_fini(&now);
	return is_new;
}

int inject_ways_check(const struct inject_ways *w, const struct inject_memory *m,
		      uint64_t debug, struct err *e)
{
	struct inject_objects now = { 0 };
	bool is_settled;
	int rc = inject_objects_read(m, debug, &now, e);

	is_settled =
		rc == 0 && now.is_settled && inject_objects_are_same(&now, &w->objects);
	inject_objects_fini(&now);
	return rc < 0 || is_settled
		       ? rc
		       : err_set(e, ERR_LIMIT, "it does not cease to load libraries");
}

static size_t lead_cells(const struct inject_ways *w, const struct inject_memory *m,
			 uint64_t hooks, inject_write_fn *write, void *ctx)
{
	return inject_cells_lead(&w->cells, m, hooks, INJECT_PLACE_FIRST,
				 INJECT_PLACE_END, write, ctx);
}

size_t inject_ways_lead(struct inject_ways *w, struct inject_calls *c,
			const struct inject_memory *m, uint64_t hooks,
			inject_write_fn *write, void *ctx)
{
	return lead_cells(w, m, hooks, write, ctx) +
	       inject_symbols_lead(c, m, write, ctx) +
	       inject_inner_lead(&w->inner, c, m, write, ctx) +
	       inject_slots_patch(&w->slots, c, m, INJECT_PLACE_FIRST, INJECT_PLACE_END,
				  write, ctx);
}

/* What was loaded in the last moment has found our wrappers, too. */
static void take_late(struct inject_ways *w, const struct inject_calls *c,
		      const struct inject_memory *m, const struct inject_objects *now)
{
	if (inject_objects_are_same(now, &w->objects))
		return;
	vec_clear(&w->objects.at);
	vec_each(o, &now->at)
		*vec_push(&w->objects.at) = *o;
	inject_slots_find(&w->slots, c, m, &w->objects);
}

int inject_ways_lead_back(struct inject_ways *w, const struct inject_calls *c,
			  const struct inject_memory *m, uint64_t debug,
			  inject_write_fn *write, void *ctx, struct err *e)
{
	struct inject_objects now = { 0 };
	int rc = inject_objects_read(m, debug, &now, e);

	if (rc == 0) {
		inject_symbols_lead_back(c, m, write, ctx);
		take_late(w, c, m, &now);
		inject_slots_restore(&w->slots, c, m, &w->objects, &now, write, ctx);
		inject_inner_lead_back(&w->inner, c, m, write, ctx);
		lead_cells(w, m, 0, write, ctx);
	}
	inject_objects_fini(&now);
	return rc;
}
