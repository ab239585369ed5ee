/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_calls.h"

#include <stdio.h>
#include <string.h>

#include "collect/inject_place.h"
#include "wire/tracer.h"

static const struct {
	const char *name;
	uint32_t traces; /* for which it is wrapped */
} known[INJECT_N_CALLS] = {
#define CALL(trace, name) { #name, WIRE_TRACER_##trace },
#define HELPER(name)	  { #name, 0 },
#define ALWAYS(name)	  { #name, UINT32_MAX },
#define AT_END(name)	  { #name, WIRE_TRACER_REGIONS | WIRE_TRACER_FPE },
#define EXECUTES(name)	  { #name, (uint32_t)~WIRE_TRACER_MARKS },
#include "wire/tracer_calls.def"
#undef EXECUTES
#undef AT_END
#undef CALL
#undef HELPER
#undef ALWAYS
};

bool inject_calls_is_wanted(unsigned call, uint32_t traces)
{
	return known[call].traces & traces;
}

/* A recorder that was killed has left the linker with its wrappers. */
static uint64_t find_behind(const struct inject_memory *m, uint64_t at, const char *name)
{
	bool is_led = at >= INJECT_PLACE_FIRST && at < INJECT_PLACE_END;

	return is_led ? inject_place_leads_to(m, at, name) : at;
}

/* If it has not been found yet. */
static bool find_in(struct inject_calls *c, unsigned k, const struct inject_tables *t)
{
	const char *name = known[k].name;
	struct inject_symbol symbol;
	uint64_t at = c->of[k].address ? 0 : inject_tables_find_symbol(t, name, &symbol);

	at = find_behind(t->memory, at, name);
	if (!at)
		return false;
	c->of[k].address = at;
	c->symbol[k] = symbol;
	c->has_older[k] = inject_tables_find_older(t, name, at) != 0;
	return true;
}

static size_t find_all_in(struct inject_calls *c, const struct inject_memory *m,
			  const struct inject_object *o)
{
	struct inject_tables t;
	size_t n = 0;

	if (!inject_tables_open(m, o, &t))
		return 0;
	for (unsigned k = 0; k < INJECT_N_CALLS; k++)
		n += find_in(c, k, &t);
	return n;
}

void inject_calls_find(struct inject_calls *c, const struct inject_memory *m,
		       const struct inject_objects *objects)
{
	for (unsigned k = 0; k < INJECT_N_CALLS; k++) {
		c->of[k] = (struct wire_injected_call){ .address = 0 };
		c->has_older[k] = false;
		c->symbol[k] = (struct inject_symbol){ 0 };
		snprintf(c->of[k].name, sizeof(c->of[k].name), "%s", known[k].name);
	}
	vec_each(o, &objects->at)
		find_all_in(c, m, o);
}

size_t inject_calls_find_more(struct inject_calls *c, const struct inject_memory *m,
			      const struct inject_objects *before,
			      const struct inject_objects *now)
{
	size_t n = 0;

	vec_each(o, &now->at)
		if (!inject_objects_have(before, o))
			n += find_all_in(c, m, o);
	return n;
}

unsigned inject_calls_named(const struct inject_calls *c, const char *name)
{
	for (unsigned k = 0; k < INJECT_N_CALLS; k++)
		if (!strcmp(c->of[k].name, name))
			return k;
	return INJECT_N_CALLS;
}
