/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_sums.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/vec.h"
#include "collect/system_delivered.h"
#include "collect/system_grace.h"

#define SUMS_BYTES (STATE_RECORD_SUMS_MAX * sizeof(struct state_record_sum))
/* Few enough that what they stand for takes some megabytes. */
#define TURN_AT 16384
/* Threads may keep more than that: then no turn before there are twice as many, or
 * hardly any are left. */
#define TURN_AT_MAX (STATE_RECORD_HALF - STATE_RECORD_HALF / 8)

struct change {
	uint32_t number;
	struct state_record_sum more, now;
};

struct system_sums {
	struct system_sums_maps maps;
	struct state_record_sum *sums;
	struct system_delivered *delivered;
	uint32_t turn_at; /* a turn is due when more sums are in use */
	bool is_turning;
	VEC(struct change) changes;
};

/* Numbers of this half that were given, the one of no sum included. */
static uint32_t n_given(const struct system_sums *s, uint32_t generation)
{
	uint32_t n = __atomic_load_n(&s->maps.next[generation & 1], __ATOMIC_SEQ_CST);

	return n < STATE_RECORD_HALF ? n : STATE_RECORD_HALF;
}

/* Where the one before was killed: behind a turn, the old sums are to be delivered, or
 * were so for good. */
static void resume(struct system_sums *s)
{
	uint32_t now = *s->maps.generation;

	s->is_turning = now == *s->maps.oldest && now && n_given(s, now - 1) > 1;
	if (s->maps.finished && s->maps.finished == now)
		s->is_turning = true;
}

int system_sums_new(const struct system_sums_maps *maps, struct system_sums **ret,
		    struct err *e)
{
	own(system_sums_freep) struct system_sums *s = xcalloc(1, sizeof(*s));
	void *sums =
		mmap(NULL, SUMS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, maps->sums, 0);
	int rc;

	if (sums == MAP_FAILED)
		return err_os(e, "cannot map a BPF map");
	s->sums = sums;
	s->maps = *maps;
	s->turn_at = TURN_AT;
	rc = system_delivered_new(maps->delivered, maps->version, &s->delivered, e);
	if (rc < 0)
		return rc;
	resume(s);
	*ret = steal(&s);
	return 0;
}

void system_sums_free(struct system_sums *s)
{
	if (!s)
		return;
	if (s->sums)
		munmap(s->sums, SUMS_BYTES);
	system_delivered_free(s->delivered);
	vec_fini(&s->changes);
	free(s);
}

void system_sums_freep(struct system_sums **s)
{
	system_sums_free(*s);
}

/* Has it begun, and no more? */
static bool is_half_turned(const struct system_sums *s)
{
	return *s->maps.generation != *s->maps.oldest;
}

bool system_sums_want_turn(const struct system_sums *s)
{
	return !s->is_turning &&
	       (is_half_turned(s) || n_given(s, *s->maps.generation) > s->turn_at);
}

void system_sums_begin_turn(struct system_sums *s)
{
	if (!is_half_turned(s))
		__atomic_add_fetch(s->maps.generation, 1, __ATOMIC_SEQ_CST);
	system_grace_wait();
}

void system_sums_end_turn(struct system_sums *s)
{
	__atomic_store_n(s->maps.oldest, *s->maps.generation, __ATOMIC_SEQ_CST);
	system_grace_wait();
	s->is_turning = true;
}

/* What was told before it was charged is in the rings. */
static void take_sum(struct system_sums *s, uint32_t number)
{
	const struct state_record_sum *sum = &s->sums[STATE_RECORD_SLOT(number)];
	struct change c = {
		.number = number,
		.now = { .ns = __atomic_load_n(&sum->ns, __ATOMIC_ACQUIRE),
			 .wait_ns = __atomic_load_n(&sum->wait_ns, __ATOMIC_ACQUIRE),
			 .count = __atomic_load_n(&sum->count, __ATOMIC_ACQUIRE),
			 .n_waits = __atomic_load_n(&sum->n_waits, __ATOMIC_ACQUIRE) },
	};

	if (!c.now.ns && !c.now.wait_ns && !c.now.count && !c.now.n_waits)
		return;
	system_delivered_rest(s->delivered, STATE_RECORD_SLOT(number), &c.now, &c.more);
	if (c.more.ns || c.more.wait_ns || c.more.count || c.more.n_waits)
		*vec_push(&s->changes) = c;
}

static void take_half(struct system_sums *s, uint32_t generation)
{
	uint32_t n = n_given(s, generation);

	for (uint32_t i = 1; i < n; i++)
		take_sum(s, STATE_RECORD_NUMBER(generation, i));
}

void system_sums_take(struct system_sums *s)
{
	uint32_t generation = *s->maps.generation;

	s->changes.n = 0;
	take_sum(s, 0);
	if (s->is_turning)
		take_half(s, generation - 1);
	take_half(s, generation);
}

void system_sums_deliver(struct system_sums *s, void *ctx,
			 void (*time)(void *ctx, uint32_t number,
				      const struct state_record_sum *more))
{
	vec_each(c, &s->changes)
		time(ctx, c->number, &c->more);
}

void system_sums_put(struct system_sums *s)
{
	vec_each(c, &s->changes)
		system_delivered_put(s->delivered, STATE_RECORD_SLOT(c->number), &c->now);
	s->changes.n = 0;
}

uint64_t system_sums_version(const struct system_sums *s)
{
	return system_delivered_next(s->delivered);
}

void system_sums_commit(struct system_sums *s)
{
	system_delivered_commit(s->delivered);
}

/* Nobody finds it any more. */
static void forget(struct system_sums *s, uint32_t number)
{
	struct state_record_sum *sum = &s->sums[STATE_RECORD_SLOT(number)];
	uint64_t place = state_record_place(sum->key, STATE_RECORD_GENERATION(number));

	bpf_map_delete_elem(s->maps.numbers, &place);
	*sum = (struct state_record_sum){ 0 };
	system_delivered_clear(s->delivered, STATE_RECORD_SLOT(number));
}

int system_sums_closing(const struct system_sums *s)
{
	return s->is_turning ? (int)((*s->maps.generation - 1) & 1) : -1;
}

uint32_t system_sums_generation(const struct system_sums *s)
{
	return *s->maps.generation;
}

void system_sums_close(struct system_sums *s)
{
	uint32_t left = *s->maps.generation - 1, n = n_given(s, left);

	s->is_turning = false;
	for (uint32_t i = 1; i < n; i++)
		forget(s, STATE_RECORD_NUMBER(left, i));
	__atomic_store_n(&s->maps.next[left & 1], 1, __ATOMIC_SEQ_CST);
	s->turn_at = 2 * n_given(s, left + 1);
	if (s->turn_at < TURN_AT)
		s->turn_at = TURN_AT;
	if (s->turn_at > TURN_AT_MAX)
		s->turn_at = TURN_AT_MAX;
}

size_t system_sums_bytes(unused const struct system_sums *s)
{
	return SUMS_BYTES;
}
