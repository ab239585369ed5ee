/* SPDX-License-Identifier: Apache-2.0 */
#include "count/place.h"

#include "bare/sys.h"
#include "count/engine.h"
#include "count/fatal.h"
#include "count/reserve.h"

#define PLACES_MAX 0xc00000u
#define FIRST_BITS 12

static struct place *places;
static uint32_t n_places;

/* Indices of places, 0: free; open addressing. */
static uint32_t *slots;
static unsigned slot_bits;

static uint32_t hash(uint32_t nest, uint64_t addr)
{
	return (uint32_t)(((addr + nest) * 0x9e3779b97f4a7c15ULL) >> (64 - slot_bits));
}

static bool is_at(const struct place *p, uint32_t nest, uint64_t addr)
{
	return p->addr == addr && p->nest == nest;
}

static uint32_t *slot_of(uint32_t nest, uint64_t addr)
{
	uint32_t mask = (1u << slot_bits) - 1, i = hash(nest, addr);

	while (slots[i] && !is_at(&places[slots[i]], nest, addr))
		i = (i + 1) & mask;
	return &slots[i];
}

static void grow(void)
{
	uint32_t *old = slots;
	size_t old_bytes = sizeof(*slots) << slot_bits;

	slot_bits++;
	slots = reserve(sizeof(*slots) << slot_bits);
	for (uint32_t i = 1; i < n_places; i++)
		*slot_of(places[i].nest, places[i].addr) = i;
	reserve_release(old, old_bytes);
}

void place_init(void)
{
	places = reserve(sizeof(*places) * PLACES_MAX);
	n_places = 1; /* none has number 0 */
	slot_bits = FIRST_BITS;
	slots = reserve(sizeof(*slots) << slot_bits);
}

void place_clear(void)
{
	reserve_clear(places, sizeof(*places) * n_places);
	reserve_clear(slots, sizeof(*slots) << slot_bits);
	n_places = 1;
}

bool place_has_room(void)
{
	return n_places < PLACES_MAX / 4 * 3;
}

struct place *place_at(uint32_t nest, uint64_t addr)
{
	uint32_t *slot = slot_of(nest, addr);
	struct place *p;

	if (*slot)
		return &places[*slot];
	if (n_places == PLACES_MAX)
		fatal("too much code to count");
	if (n_places >= 1u << (slot_bits - 1)) {
		grow();
		slot = slot_of(nest, addr);
	}
	*slot = n_places;
	p = &places[n_places++];
	*p = (struct place){ .addr = addr,
			     .nest = nest,
			     .part = forest_add(&engine.forest) };
	return p;
}

uint32_t place_number(const struct place *p)
{
	return (uint32_t)(p - places);
}

struct place *place_numbered(uint32_t number)
{
	return &places[number];
}
