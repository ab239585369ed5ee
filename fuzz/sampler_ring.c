/* SPDX-License-Identifier: Apache-2.0
 *
 * sampler_ring - the bytes of a ring as a hostile target could leave them.  First byte:
 * bit 0 tells whether the target is gone; then words [kind, size lo, size hi] and
 * payloads from which committed records are made, so that the parser is reached.
 */
#include <stdlib.h>
#include <string.h>

#include "collect/heap_maps.h"
#include "collect/io_calls.h"
#include "collect/io_ledger.h"
#include "collect/io_traced_file.h"
#include "collect/sync_ledger.h"
#include "collect/timer_ring.h"

#define RING_BYTES 65536

/* What a tracer says of a heap, whatever it is, adds up. */
static void follow_heap(struct heap_ledger *l, const struct timer_record *r)
{
	uint64_t bytes = 0, blocks = 0;
	struct heap_block gone;

	if (r->kind == WIRE_TRACER_ALLOC)
		heap_ledger_take(l, r->alloc.time_ns, r->alloc.stack % l->sites.n,
				 r->alloc.address, r->alloc.size_bytes);
	else if (r->kind == WIRE_TRACER_FREE)
		heap_ledger_give(l, r->free.time_ns, r->free.address, &gone);
	else if (r->kind == WIRE_TRACER_MOVE)
		heap_ledger_move(l, r->free.time_ns, r->free.address, &gone);
	else if (r->kind == WIRE_TRACER_UNMOVE)
		heap_ledger_unmove(l, r->free.time_ns, r->free.address, &gone);
	vec_each(s, &l->sites) {
		bytes += s->live.bytes;
		blocks += s->live.blocks;
	}
	if (bytes != l->live.bytes || blocks != l->live.blocks || blocks != l->blocks.n)
		abort();
}

static void follow_maps(struct heap_maps *m, const struct timer_record *r)
{
	uint64_t bytes = 0, at = 0;
	const struct wire_tracer_unmap *x = &r->unmap;

	if (r->kind == WIRE_TRACER_MAP)
		heap_maps_take(m, r->alloc.time_ns, r->alloc.stack % m->ledger.sites.n,
			       r->alloc.address, r->alloc.size_bytes);
	else if (r->kind == WIRE_TRACER_UNMAP)
		heap_maps_give(m, x->time_ns, x->address, x->size_bytes);
	else if (r->kind == WIRE_TRACER_MAP_MOVE)
		heap_maps_move(m, x->time_ns, x->address, x->size_bytes);
	else if (r->kind == WIRE_TRACER_MAP_STAYS)
		heap_maps_stay(m, x->time_ns, x->address, x->size_bytes);
	vec_each(range, &m->ranges) {
		if (range->address < at || !range->size_bytes)
			abort();
		at = range->address + range->size_bytes;
		bytes += range->size_bytes;
	}
	if (bytes != m->ledger.live.bytes || m->ranges.n != m->ledger.live.blocks)
		abort();
}

static uint64_t charged(const struct sync_ledger *l)
{
	uint64_t ns = 0;

	vec_each(debt, &l->debts)
		ns += debt->ns;
	return ns;
}

/* Of a wait no more is charged than it took. */
static void follow_waits(struct sync_ledger *l, const struct timer_record *r)
{
	uint64_t before = charged(l), n = l->n_waits;
	struct sync_wait w = { .time_ns = r->wait.time_ns,
			       .waited_ns = r->wait.waited_ns,
			       .address = r->wait.address,
			       .stack = (uint32_t)r->wait.stack % 8,
			       .what = r->wait.what };

	if (r->kind == WIRE_TRACER_RELEASE)
		sync_ledger_release(l, r->release.time_ns, r->release.address,
				    (uint32_t)r->release.stack % 8);
	if (r->kind != WIRE_TRACER_WAIT || w.what >= WIRE_TRACER_SYNC_N ||
	    w.waited_ns > w.time_ns)
		return;
	sync_ledger_wait(l, &w);
	if (charged(l) - before > w.waited_ns || l->n_waits != n + 1)
		abort();
}

/* Each call is in one sum, and a file has a text. */
static void follow_io(struct io_ledger *l, const struct timer_record *r)
{
	const struct wire_tracer_io_done *d = &r->io_done;
	struct io_call c = { .stack = (uint32_t)d->stack % 8,
			     .file = (uint32_t)d->file % 8,
			     .call = d->call,
			     .error = d->error % 8,
			     .took_ns = d->took_ns,
			     .done = d->done };
	char text[TIMER_RECORD_PATH_MAX + 1] = "";
	uint64_t n = 0;

	if (r->kind == WIRE_TRACER_IO_FILE) {
		io_traced_file_text(&r->io_file, r->path, text, sizeof(text));
		if (!*text)
			abort();
	}
	if (r->kind == WIRE_TRACER_IO_LEFT && io_calls_name(d->call))
		io_ledger_add_time(l, &c);
	if (r->kind != WIRE_TRACER_IO_DONE || !io_calls_name(d->call))
		return;
	io_ledger_add(l, &c);
	vec_each(s, &l->sums)
		n += s->n;
	if (n != l->n_calls || l->errors.n > l->n_calls)
		abort();
}

struct sums {
	struct heap_ledger blocks;
	struct heap_maps maps;
	struct sync_ledger waits;
	struct io_ledger io;
};

static void check(void *ctx, const struct timer_record *r)
{
	struct sums *h = ctx;

	follow_heap(&h->blocks, r);
	follow_maps(&h->maps, r);
	follow_waits(&h->waits, r);
	follow_io(&h->io, r);
	if (r->kind == WIRE_TRACER_STACK && r->stack.n_frames > WIRE_SAMPLER_DEPTH_MAX)
		abort();
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
	struct sums sums = { 0 };
	uint64_t damaged = 0;
	bool is_final;
	size_t n;

	if (!size)
		return 0;
	is_final = data[0] & 1;
	for (uint32_t i = 0; i < 4; i++) {
		heap_ledger_site(&sums.blocks, i, 1);
		heap_ledger_site(&sums.maps.ledger, i, 1);
	}
	n = make_ring(data + 1, size - 1, ring);
	if (timer_ring_walk(&stacks, ring, n, 0, is_final, check, &sums, &damaged) > n)
		abort();
	/* The input itself as a ring. */
	timer_ring_walk(&stacks, data, size & ~(size_t)7, 0, true, check, &sums,
			&damaged);
	timer_record_stacks_fini(&stacks);
	heap_ledger_fini(&sums.blocks);
	sync_ledger_fini(&sums.waits);
	io_ledger_fini(&sums.io);
	heap_maps_fini(&sums.maps);
	return 0;
}
