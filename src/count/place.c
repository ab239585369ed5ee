/* SPDX-License-Identifier: Apache-2.0 */
#include "count/place.h"

#include "bare/sys.h"
#include "count/engine.h"
#include "count/fatal.h"
#include "count/reserve.h"

#define PLACES_MAX 0xc00000u
#define FIRST_BITS 13

static struct place *places;
static uint32_t n_places;

/* Places by address; open addressing.  The tag saves a look at places that are others:
 * they are far apart in memory, and not in the cache. */
struct slot {
	uint32_t tag;
	uint32_t number; /* of a place, 0: free */
};

static struct slot *slots;
static unsigned slot_bits;

static uint32_t tag_of(uint32_t nest, uint64_t addr)
{
	return (uint32_t)(((addr + nest) * 0x9e3779b97f4a7c15ULL) >> 32);
}

static bool is_at(const struct place *p, uint32_t nest, uint64_t addr)
{
	return p->addr == addr && p->nest == nest;
}

static struct slot *next_slot(struct slot *s)
{
	return s + 1 < slots + (1u << slot_bits) ? s + 1 : slots;
}

static struct slot *slot_of(uint32_t tag, uint32_t nest, uint64_t addr)
{
	struct slot *s = &slots[tag >> (32 - slot_bits)];

	while (s->number && (s->tag != tag || !is_at(&places[s->number], nest, addr)))
		s = next_slot(s);
	return s;
}

static void grow(void)
{
	struct slot *old = slots;
	uint32_t n_old = 1u << slot_bits++;

	slots = reserve_scattered(sizeof(*slots) << slot_bits);
	for (uint32_t i = 0; i < n_old; i++) {
		struct slot *s = &slots[old[i].tag >> (32 - slot_bits)];

		if (!old[i].number)
			continue;
		while (s->number)
			s = next_slot(s);
		*s = old[i];
	}
	reserve_release(old, n_old * sizeof(*old));
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
	uint32_t tag = tag_of(nest, addr);
	struct slot *slot = slot_of(tag, nest, addr);
	struct place *p;

	if (slot->number)
		return &places[slot->number];
	if (n_places == PLACES_MAX)
		fatal("too much code to count");
	if (n_places >= 3u << (slot_bits - 2)) {
		grow();
		slot = slot_of(tag, nest, addr);
	}
	*slot = (struct slot){ tag, n_places };
	p = &places[n_places++];
	*p = (struct place){ .addr = addr,
			     .nest = nest & (COUNT_FILE_NESTS_MAX - 1),
			     .part = forest_add(&engine.forest) };
	return p;
}

uint32_t place_end(void)
{
	return n_places;
}

uint32_t place_number(const struct place *p)
{
	return (uint32_t)(p - places);
}

struct place *place_numbered(uint32_t number)
{
	return &places[number];
}
