/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_calls.h"

#include <stdio.h>
#include <string.h>

#include "collect/inject_tables.h"
#include "wire/tracer.h"

static const struct {
	const char *name;
	uint32_t traces; /* for which it is wrapped */
} known[INJECT_N_CALLS] = {
#define CALL(trace, name) { #name, WIRE_TRACER_##trace },
#define HELPER(name)	  { #name, 0 },
#define ALWAYS(name)	  { #name, UINT32_MAX },
#define AT_END(name)	  { #name, WIRE_TRACER_REGIONS | WIRE_TRACER_FPE },
#include "wire/tracer_calls.def"
#undef AT_END
#undef CALL
#undef HELPER
#undef ALWAYS
};

bool inject_calls_is_wanted(unsigned call, uint32_t traces)
{
	return known[call].traces & traces;
}

/* If it has not been found yet. */
static void find_in(struct inject_calls *c, unsigned k, const struct inject_tables *t)
{
	uint64_t at = c->of[k].address ? 0 : inject_tables_find(t, known[k].name);

	if (!at)
		return;
	c->of[k].address = at;
	c->has_older[k] = inject_tables_find_older(t, known[k].name, at) != 0;
}

void inject_calls_find(struct inject_calls *c, const struct inject_memory *m,
		       const struct inject_objects *objects)
{
	for (unsigned k = 0; k < INJECT_N_CALLS; k++) {
		c->of[k] = (struct wire_injected_call){ .address = 0 };
		c->has_older[k] = false;
		snprintf(c->of[k].name, sizeof(c->of[k].name), "%s", known[k].name);
	}
	vec_each(o, &objects->at) {
		struct inject_tables t;

		if (!inject_tables_open(m, o, &t))
			continue;
		for (unsigned k = 0; k < INJECT_N_CALLS; k++)
			find_in(c, k, &t);
	}
}

unsigned inject_calls_named(const struct inject_calls *c, const char *name)
{
	for (unsigned k = 0; k < INJECT_N_CALLS; k++)
		if (!strcmp(c->of[k].name, name))
			return k;
	return INJECT_N_CALLS;
}
