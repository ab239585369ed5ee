/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_symbols.h"

#include "collect/inject_place.h"

static bool read_address(const struct inject_calls *c, unsigned k,
			 const struct inject_memory *m, uint64_t *ret)
{
	const struct inject_symbol *s = &c->symbol[k];
	uint64_t word;

	if (!c->wrapper[k] || !s->at || s->at % sizeof(word) != 0 ||
	    !inject_memory_read(m, s->at, &word, sizeof(word)))
		return false;
	*ret = s->bias + word;
	return true;
}

size_t inject_symbols_lead(struct inject_calls *c, const struct inject_memory *m,
			   inject_write_fn *write, void *ctx)
{
	size_t n = 0;

	for (unsigned k = 0; k < INJECT_N_CALLS; k++) {
		struct inject_symbol *s = &c->symbol[k];
		uint64_t address, ours = c->wrapper[k];

		if (!read_address(c, k, m, &address) || address == ours ||
		    (address != c->of[k].address &&
		     (address < INJECT_PLACE_FIRST || address >= INJECT_PLACE_END)))
			continue;
		n++;
		if (write && !write(ctx, s->at, ours - s->bias))
			s->at = 0;
	}
	return n;
}

void inject_symbols_lead_back(const struct inject_calls *c, const struct inject_memory *m,
			      inject_write_fn *write, void *ctx)
{
	for (unsigned k = 0; k < INJECT_N_CALLS; k++) {
		const struct inject_symbol *s = &c->symbol[k];
		uint64_t address;

		if (read_address(c, k, m, &address) && address == c->wrapper[k])
			write(ctx, s->at, c->of[k].address - s->bias);
	}
}
