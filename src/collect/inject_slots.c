/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_slots.h"

#include <stdlib.h>
#include <string.h>

#include "collect/inject_tables.h"

void inject_slots_fini(struct inject_slots *s)
{
	vec_fini(&s->of);
}

struct finding {
	struct inject_slots *slots;
	const struct inject_calls *calls;
	const struct inject_tables *tables;
	size_t object;
};

static void add(void *ctx, uint64_t slot, const char *name, uint64_t number,
		uint32_t symbol)
{
	struct finding *f = ctx;
	unsigned call = inject_calls_named(f->calls, name);

	if (call < INJECT_N_CALLS && f->calls->wrapper[call] && slot % 8 == 0)
		*vec_push(&f->slots->of) = (struct inject_slot){
			.at = slot,
			.number = number,
			.call = call,
			.means_newer = f->calls->has_older[call] &&
				       inject_tables_means_newer(f->tables, symbol),
			.object = f->object
		};
}

static int by_address(const void *a, const void *b)
{
	const struct inject_slot *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

void inject_slots_find(struct inject_slots *s, const struct inject_calls *c,
		       const struct inject_memory *m,
		       const struct inject_objects *objects)
{
	struct inject_slots old = *s;
	struct finding f = { .slots = s, .calls = c };

	*s = (struct inject_slots){ 0 };
	for (f.object = 0; f.object < objects->at.n; f.object++) {
		struct inject_tables t;

		f.tables = &t;
		if (inject_tables_open(m, &objects->at.at[f.object], &t))
			inject_tables_slots(&t, add, &f);
	}
	if (s->of.n)
		qsort(s->of.at, s->of.n, sizeof(struct inject_slot), by_address);
	for (size_t i = 0, k = 0; i < s->of.n && k < old.of.n;) {
		const struct inject_slot *was = &old.of.at[k];

		if (s->of.at[i].at == was->at && s->of.at[i].call == was->call)
			s->of.at[i].was = was->was;
		if (s->of.at[i].at < was->at)
			i++;
		else
			k++;
	}
	vec_fini(&old.of);
}

/* The code that looks a call up pushes its number in the object's table and jumps, of
 * x86-64. */
static bool is_lookup(const struct inject_memory *m, uint64_t at, uint64_t number)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t code[sizeof(endbr)];
	struct {
		uint8_t push;
		uint32_t number;
	} __attribute__((packed)) next;

	if (inject_memory_read(m, at, code, sizeof(code)) &&
	    !memcmp(code, endbr, sizeof(endbr)))
		at += sizeof(endbr);
	return inject_memory_read(m, at, &next, sizeof(next)) && next.push == 0x68 &&
	       next.number == number;
}

size_t inject_slots_patch(struct inject_slots *s, const struct inject_calls *c,
			  const struct inject_memory *m, uint64_t lo, uint64_t hi,
			  inject_write_fn *write, void *ctx)
{
	size_t n = 0;

	vec_each(x, &s->of) {
		uint64_t call = c->of[x->call].address, ours = c->wrapper[x->call];
		uint64_t value, was;

		if (!inject_memory_read(m, x->at, &value, sizeof(value)) || value == ours)
			continue;
		was = value >= lo && value < hi ? call : value;
		if (x->number == INJECT_TABLES_DATA && was == value)
			continue;
		if (was != call && ((c->has_older[x->call] && !x->means_newer) ||
				    !is_lookup(m, was, x->number)))
			continue;
		n++;
		if (write && write(ctx, x->at, ours))
			x->was = was;
	}
	return n;
}

void inject_slots_restore(const struct inject_slots *s, const struct inject_calls *c,
			  const struct inject_memory *m,
			  const struct inject_objects *before,
			  const struct inject_objects *now, inject_write_fn *write,
			  void *ctx)
{
	size_t object = SIZE_MAX;
	bool is_object_there = false;

	vec_each(x, &s->of) {
		uint64_t value;

		if (x->object != object) {
			object = x->object;
			is_object_there =
				inject_objects_have(now, &before->at.at[object]);
		}
		if (is_object_there &&
		    inject_memory_read(m, x->at, &value, sizeof(value)) &&
		    value == c->wrapper[x->call])
			write(ctx, x->at, x->was ? x->was : c->of[x->call].address);
	}
}
