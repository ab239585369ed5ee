/* SPDX-License-Identifier: Apache-2.0
 *
 * sampler_ring - the bytes of a ring as a hostile target could leave them.  First byte:
 * bit 0 tells whether the target is gone; then words [kind, size lo, size hi] and
 * payloads from which committed records are made, so that the parser is reached.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/timer_ring.h"

#define RING_BYTES 65536

static void check(void *ctx, const struct timer_record *r)
{
	(void)ctx;
	if (r->kind == WIRE_SAMPLER_SAMPLE &&
	    (r->sample.n_frames > WIRE_SAMPLER_DEPTH_MAX || !r->sample.count))
		abort();
	if ((r->kind == WIRE_SAMPLER_START || r->kind == WIRE_SAMPLER_MODULE) &&
	    strlen(r->path) > TIMER_RECORD_PATH_MAX)
		abort();
	if (r->kind == WIRE_SAMPLER_MODULE && r->module.start >= r->module.end)
		abort();
}

/* Commit words in front of the payloads of the input; returns the ring's length. */
static size_t make_ring(const uint8_t *data, size_t size, uint8_t *ring)
{
	size_t at = 0;

	while (size >= 3) {
		uint32_t n = data[1] | (uint32_t)(data[2] & 0x3f) << 8;
		uint64_t word = wire_sampler_commit(at, n, data[0]);

		if (n > size - 3)
			n = (uint32_t)(size - 3);
		if (at + wire_sampler_record_bytes(n) > RING_BYTES)
			break;
		memcpy(ring + at, &word, 8);
		memcpy(ring + at + 8, data + 3, n);
		at += wire_sampler_record_bytes(n);
		data += 3 + n;
		size -= 3 + n;
	}
	return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t ring[RING_BYTES];
	struct timer_record_stacks stacks = { 0 };
	uint64_t damaged = 0;
	bool is_final;
	size_t n;

	if (!size)
		return 0;
	is_final = data[0] & 1;
	n = make_ring(data + 1, size - 1, ring);
	if (timer_ring_walk(&stacks, ring, n, 0, is_final, check, NULL, &damaged) > n)
		abort();
	/* The input itself as a ring. */
	timer_ring_walk(&stacks, data, size & ~(size_t)7, 0, true, check, NULL, &damaged);
	timer_record_stacks_fini(&stacks);
	return 0;
}
