/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * requests_kept - what is known of the requests of io_urings that are under way, by the
 * kernel's struct of each, and by what a program calls it.
 */
#ifndef DWELL_COLLECT_BPF_REQUESTS_KEPT_BPF_H
#define DWELL_COLLECT_BPF_REQUESTS_KEPT_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/thread.bpf.h"

#define REQUESTS_MAX	     32768   /* at a time */
#define REQUESTS_GUESSED_MAX 4096    /* names of such */
#define REQUESTS_TAKEN	     (~0ull) /* in place of a time: it is over */

uint64_t requests_n_unmet = 0;	    /* there was no room for what is known of them */
bool requests_have_silent = false;  /* any, ever */
bool requests_have_guesses = false; /* one may have been taken for another, ever */
uint64_t requests_n_aside = 1;	    /* twice, and odd, as no address is */

/* What a program calls it; several may have the same. */
struct requests_name {
	uint64_t ring, word;
};

struct request {
	uint64_t since_ns; /* until then it is charged, or REQUESTS_TAKEN */
	uint64_t began_ns; /* since it was submitted, or completed last */
	uint64_t asked;	   /* bytes; 0: unknown, too */
	struct requests_name name;
	uint32_t sum;
	uint8_t event; /* enum io_record_event */
	bool is_silent, has_shots;
	uint8_t zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, REQUESTS_MAX);
	__type(key, uint64_t);
	__type(value, struct request);
} requests SEC(".maps");

/* Which request it is that completes several times. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, REQUESTS_MAX);
	__type(key, struct requests_name);
	__type(value, uint64_t);
} request_shots SEC(".maps");

/* Of these one was taken for another, perhaps. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, REQUESTS_GUESSED_MAX);
	__type(key, struct requests_name);
	__type(value, uint8_t);
} requests_guessed SEC(".maps");

static __always_inline void requests_keep(uint64_t at, const struct request *r)
{
	if (bpf_map_update_elem(&requests, &at, r, BPF_ANY))
		__sync_fetch_and_add(&requests_n_unmet, 1);
	else if (r->has_shots)
		bpf_map_update_elem(&request_shots, &r->name, &at, BPF_ANY);
}

/* How long since it was charged last: who goes through all may come at the same time. */
static __always_inline uint64_t requests_lap(struct request *r, uint64_t now)
{
	uint64_t since = *(volatile uint64_t *)&r->since_ns;

	if (!from_ns || since >= now ||
	    __sync_val_compare_and_swap(&r->since_ns, since, now) != since)
		return 0;
	return thread_observed(since, now);
}

/* Until when, at least; now: that of who asks, where it has been taken. */
static __always_inline uint64_t requests_charged_until(const struct request *r,
						       uint64_t now)
{
	uint64_t since = *(const volatile uint64_t *)&r->since_ns;

	return since == REQUESTS_TAKEN ? now : since;
}

/* One that is over, which is charged until its end, and of its time what was not charged
 * before. */
struct requests_over {
	struct request request;
	uint64_t ns;
};

/* Several may want the same, on other CPUs: it is that one's who comes first, and nobody
 * charges it any more. */
static __always_inline bool requests_take(uint64_t at, struct request *r,
					  struct requests_over *ret)
{
	uint64_t since = __sync_lock_test_and_set(&r->since_ns, REQUESTS_TAKEN);
	uint64_t now = bpf_ktime_get_ns();

	if (since == REQUESTS_TAKEN)
		return false;
	ret->request = *r;
	ret->request.since_ns = since > now ? since : now;
	ret->ns = from_ns ? thread_observed(since, now) : 0;
	if (bpf_map_delete_elem(&requests, &at)) { /* its memory is another's by now */
		*(volatile uint64_t *)&r->since_ns = since;
		return false;
	}
	if (ret->request.has_shots)
		bpf_map_delete_elem(&request_shots, &ret->request.name);
	return true;
}

static __always_inline bool requests_take_at(uint64_t at, struct requests_over *ret)
{
	struct request *r = bpf_map_lookup_elem(&requests, &at);

	return r && requests_take(at, r, ret);
}

/* What was here has ended, as another one is now: if it is silent, it has succeeded; else
 * another one was taken for it, which will want it under some address.  Not inlined, for
 * the little stack that there is. */
static __noinline int requests_replace(uint64_t at)
{
	struct requests_over over;

	if (!requests_take_at(at, &over) || over.request.is_silent ||
	    !bpf_map_lookup_elem(&requests_guessed, &over.request.name))
		return 0;
	over.request.since_ns -= over.ns;
	requests_keep(__sync_fetch_and_add(&requests_n_aside, 2), &over.request);
	return 0;
}

/* Whose shot it is; 0: of none. */
static __always_inline uint64_t requests_of_shot(const struct requests_name *name)
{
	uint64_t *at = bpf_map_lookup_elem(&request_shots, name);

	return at ? *at : 0;
}

struct requests_search {
	struct requests_name name;
	bool has_found;
	struct requests_over found;
};

static long requests_compare(void *map __attribute__((unused)), const uint64_t *at,
			     struct request *r, struct requests_search *s)
{
	if (r->name.ring != s->name.ring || r->name.word != s->name.word)
		return 0;
	if (!requests_take(*at, r, &s->found))
		return 0;
	s->has_found = true;
	return 1;
}

static __always_inline bool requests_seek(struct requests_search *s)
{
	bpf_for_each_map_elem(&requests, requests_compare, s, 0);
	return s->has_found;
}

/* Of whichever has the name: nothing else is told of it.  Before, as the one that is
 * taken may be completed meanwhile. */
static __always_inline bool requests_take_any(struct requests_search *s)
{
	uint8_t is_guessed = 1;

	bpf_map_update_elem(&requests_guessed, &s->name, &is_guessed, BPF_ANY);
	requests_have_guesses = true;
	return requests_seek(s);
}

/* One is not where it is: if it was taken for another, what is left of its name is that
 * one, or was taken for it in its turn.  None is left: all that were taken have come. */
static __always_inline bool requests_take_instead(struct requests_search *s)
{
	if (!requests_have_guesses || !bpf_map_lookup_elem(&requests_guessed, &s->name))
		return false;
	if (requests_seek(s))
		return true;
	bpf_map_delete_elem(&requests_guessed, &s->name);
	return false;
}

#endif
