/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * requests_kept - what is known of the requests of io_urings that are under way, by the
 * kernel's struct of each, and by what a program calls it.
 */
#ifndef DWELL_COLLECT_BPF_REQUESTS_KEPT_BPF_H
#define DWELL_COLLECT_BPF_REQUESTS_KEPT_BPF_H

#include "collect/bpf/kernel.bpf.h"

#define REQUESTS_MAX 32768 /* at a time */

uint64_t requests_n_unmet = 0;	   /* there was no room for what is known of them */
int64_t requests_n_guesses = 0;	   /* which may have taken one for another */
bool requests_have_silent = false; /* any, ever */
uint64_t requests_n_aside = 1;	   /* twice, and odd, as no address is */

struct request {
	uint64_t since_ns; /* until then it is charged */
	uint64_t began_ns; /* since it was submitted, or completed last */
	uint64_t asked;	   /* bytes; 0: unknown, too */
	uint64_t ring, word;
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

struct requests_shot {
	uint64_t ring, word;
};

/* Which request it is that completes several times. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, REQUESTS_MAX);
	__type(key, struct requests_shot);
	__type(value, uint64_t);
} request_shots SEC(".maps");

static __always_inline void requests_keep(uint64_t at, const struct request *r)
{
	struct requests_shot shot = { .ring = r->ring, .word = r->word };

	if (bpf_map_update_elem(&requests, &at, r, BPF_ANY))
		__sync_fetch_and_add(&requests_n_unmet, 1);
	else if (r->has_shots)
		bpf_map_update_elem(&request_shots, &shot, &at, BPF_ANY);
}

static __always_inline void requests_forget(uint64_t at)
{
	struct request *r = bpf_map_lookup_elem(&requests, &at);
	struct requests_shot shot;

	if (!r)
		return;
	if (r->has_shots) {
		shot.ring = r->ring;
		shot.word = r->word;
		bpf_map_delete_elem(&request_shots, &shot);
	}
	bpf_map_delete_elem(&requests, &at);
}

/* What was here has ended, as another one is now: if it is silent, it has succeeded; else
 * another one was taken for it (requests_guess), which will want it under some address.
 * Not inlined, for the little stack that there is. */
static __noinline int requests_replace(uint64_t at)
{
	struct request *r = bpf_map_lookup_elem(&requests, &at);

	if (r && !r->is_silent && requests_n_guesses)
		requests_keep(__sync_fetch_and_add(&requests_n_aside, 2), r);
	requests_forget(at);
	return 0;
}

/* Whose shot it is; 0: of none. */
static __always_inline uint64_t requests_of_shot(uint64_t ring, uint64_t word)
{
	struct requests_shot shot = { .ring = ring, .word = word };
	uint64_t *at = bpf_map_lookup_elem(&request_shots, &shot);

	return at ? *at : 0;
}

struct requests_search {
	uint64_t ring, word, found;
};

static long requests_compare(void *map __attribute__((unused)), const uint64_t *at,
			     const struct request *r, struct requests_search *s)
{
	if (r->ring != s->ring || r->word != s->word)
		return 0;
	s->found = *at;
	return 1;
}

/* One of these words, of all that are under way. */
static __always_inline uint64_t requests_seek(uint64_t ring, uint64_t word)
{
	struct requests_search search = { .ring = ring, .word = word };

	bpf_for_each_map_elem(&requests, requests_compare, &search, 0);
	return search.found;
}

/* Programs may give the same word to several: then another one was taken for that which
 * overflowed, and what is left of these is that. */
static __always_inline uint64_t requests_guess(uint64_t ring, uint64_t word)
{
	if (!requests_n_guesses)
		return 0;
	__sync_fetch_and_add(&requests_n_guesses, -1);
	return requests_seek(ring, word);
}

#endif
