/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_record.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/reader.h"
#include "collect/region_record.h"
#include "unwind/stop.h"

/* No more threads than the kernel's largest pid. */
#define SLOTS_MAX (UINT32_C(1) << 22)

struct timer_stack {
	uint32_t n, cap;
	struct timer_frame {
		uint64_t pc;
		bool is_exact;
	} * frames; /* innermost first */
};

void timer_record_stacks_fini(struct timer_record_stacks *s)
{
	for (size_t i = 0; i < s->at.n; i++) {
		free(s->at.at[i]->frames);
		free(s->at.at[i]);
	}
	vec_fini(&s->at);
	map_fini(&s->index);
}

static struct timer_stack *stack_of(struct timer_record_stacks *s, uint32_t slot)
{
	bool is_new;
	uint64_t *place = map_slot(&s->index, slot, &is_new);

	if (is_new) {
		*place = s->at.n;
		*vec_push(&s->at) = xcalloc(1, sizeof(struct timer_stack));
	}
	return s->at.at[*place];
}

/* The rest of the record is a path. */
static void parse_path(struct reader *r, struct timer_record *ret)
{
	size_t n = reader_left(r);
	const uint8_t *path = reader_bytes(r, n);

	if (!path || n > TIMER_RECORD_PATH_MAX || memchr(path, 0, n)) {
		r->bad = true;
		return;
	}
	memcpy(ret->path, path, n);
	ret->path[n] = 0;
}

static void parse_comm(const char comm[16], struct timer_record *ret)
{
	memcpy(ret->comm, comm, 16);
	ret->comm[16] = 0;
}

static void parse_fixed(struct reader *r, void *to, size_t size)
{
	const uint8_t *from = reader_bytes(r, size);

	if (from)
		memcpy(to, from, size);
	else
		memset(to, 0, size);
}

static void parse_start(struct reader *r, struct timer_record *ret)
{
	parse_fixed(r, &ret->start, sizeof(ret->start));
	parse_comm(ret->start.comm, ret);
	parse_path(r, ret);
	if (ret->start.origin > WIRE_SAMPLER_ATTACH)
		r->bad = true;
}

static void parse_module(struct reader *r, struct timer_record *ret)
{
	parse_fixed(r, &ret->module, sizeof(ret->module));
	parse_path(r, ret);
	if (ret->module.start >= ret->module.end ||
	    ret->module.build_id_size > sizeof(ret->module.build_id))
		r->bad = true;
}

static void parse_io_file(struct reader *r, struct timer_record *ret)
{
	parse_fixed(r, &ret->io_file, sizeof(ret->io_file));
	parse_path(r, ret);
}

static void parse_thread(struct reader *r, struct timer_record *ret)
{
	parse_fixed(r, &ret->thread, sizeof(ret->thread));
	parse_comm(ret->thread.comm, ret);
}

static void parse_frames(struct reader *r, struct timer_record *ret, uint32_t n)
{
	uint64_t pc = 0;

	for (uint32_t i = 0; i < n && !r->bad; i++) {
		uint64_t v = reader_uleb(r), zigzag = v >> 1;

		pc += zigzag >> 1 ^ (0 - (zigzag & 1));
		ret->pcs[i] = pc;
		if (v & 1)
			ret->exact[i / 8] |= (uint8_t)(1 << (i % 8));
	}
}

static void share_frames(const struct timer_stack *previous, struct timer_record *ret)
{
	uint32_t n = ret->sample.n_frames, n_shared = ret->sample.n_shared;

	if (!n_shared)
		return;

	const struct timer_frame *f = previous->frames + (previous->n - n_shared);

	for (uint32_t i = n - n_shared; i < n; i++, f++) {
		ret->pcs[i] = f->pc;
		if (f->is_exact)
			ret->exact[i / 8] |= (uint8_t)(1 << (i % 8));
	}
}

static void keep_stack(struct timer_stack *s, const struct timer_record *record)
{
	s->n = record->sample.n_frames;
	if (s->n > s->cap) {
		s->cap = s->n;
		s->frames = xrealloc(s->frames, s->cap, sizeof(*s->frames));
	}
	for (uint32_t i = 0; i < s->n; i++)
		s->frames[i] =
			(struct timer_frame){ record->pcs[i],
					      record->exact[i / 8] >> (i % 8) & 1 };
}

static void parse_sample(struct reader *r, struct timer_record_stacks *stacks,
			 struct timer_record *ret)
{
	const struct wire_sampler_sample *s = &ret->sample;
	struct timer_stack *previous;

	parse_fixed(r, &ret->sample, sizeof(ret->sample));
	if (r->bad || s->slot >= SLOTS_MAX || s->n_frames > WIRE_SAMPLER_DEPTH_MAX ||
	    s->n_shared > s->n_frames || s->stop >= UNWIND_N_STOPS || !s->count) {
		r->bad = true;
		return;
	}
	previous = stack_of(stacks, s->slot);
	if (s->n_shared > previous->n) {
		r->bad = true;
		return;
	}
	memset(ret->exact, 0, sizeof(ret->exact));
	parse_frames(r, ret, (uint32_t)s->n_frames - s->n_shared);
	if (r->bad)
		return;
	share_frames(previous, ret);
	keep_stack(previous, ret);
}

static void parse_stack(struct reader *r, struct timer_record *ret)
{
	parse_fixed(r, &ret->stack, sizeof(ret->stack));
	if (r->bad || ret->stack.n_frames > WIRE_SAMPLER_DEPTH_MAX ||
	    ret->stack.stop >= UNWIND_N_STOPS || ret->stack.id == WIRE_TRACER_NO_STACK) {
		r->bad = true;
		return;
	}
	memset(ret->exact, 0, sizeof(ret->exact));
	parse_frames(r, ret, ret->stack.n_frames);
}

static void parse_region(struct reader *r, struct timer_record *ret)
{
	parse_fixed(r, ret->fixed, region_record_head(ret->kind));
	if (!region_record_check(r, ret->kind, ret->fixed, &ret->rest, &ret->n_rest))
		r->bad = true;
}

struct kind {
	void (*parse)(struct reader *r, struct timer_record *ret);
	size_t size; /* where all is fixed, instead of the former */
};

/* All but samples, which alone know what came before. */
static const struct kind kinds[] = {
	[WIRE_SAMPLER_START] = { .parse = parse_start },
	[WIRE_SAMPLER_MODULE] = { .parse = parse_module },
	[WIRE_SAMPLER_THREAD] = { .parse = parse_thread },
	[WIRE_SAMPLER_LEAVE] = { .parse = parse_thread },
	[WIRE_TRACER_STACK] = { .parse = parse_stack },
	[WIRE_TRACER_ALLOC] = { .size = sizeof(struct wire_tracer_alloc) },
	[WIRE_TRACER_FREE] = { .size = sizeof(struct wire_tracer_free) },
	[WIRE_TRACER_MOVE] = { .size = sizeof(struct wire_tracer_free) },
	[WIRE_TRACER_UNMOVE] = { .size = sizeof(struct wire_tracer_free) },
	[WIRE_TRACER_MAP] = { .size = sizeof(struct wire_tracer_alloc) },
	[WIRE_TRACER_UNMAP] = { .size = sizeof(struct wire_tracer_unmap) },
	[WIRE_TRACER_MAP_MOVE] = { .size = sizeof(struct wire_tracer_unmap) },
	[WIRE_TRACER_MAP_STAYS] = { .size = sizeof(struct wire_tracer_unmap) },
	[WIRE_TRACER_OURS] = { .size = sizeof(struct wire_tracer_unmap) },
	[WIRE_TRACER_HEAP_END] = { .size = sizeof(struct wire_tracer_heap_end) },
	[WIRE_TRACER_FPE_RAISED] = { .size = sizeof(struct wire_tracer_fpe) },
	[WIRE_TRACER_FPE_AGAIN] = { .size = sizeof(struct wire_tracer_fpe_again) },
	[WIRE_REGIONS_NAME] = { .parse = parse_region },
	[WIRE_REGIONS_NODES] = { .parse = parse_region },
	[WIRE_REGIONS_SLICES] = { .parse = parse_region },
	[WIRE_REGIONS_MARK] = { .parse = parse_region },
	[WIRE_REGIONS_THREAD] = { .parse = parse_region },
	[WIRE_TRACER_SYNC_START] = { .size = sizeof(struct wire_tracer_sync_start) },
	[WIRE_TRACER_PLACE] = { .size = sizeof(struct wire_tracer_place) },
	[WIRE_TRACER_WAIT] = { .size = sizeof(struct wire_tracer_wait) },
	[WIRE_TRACER_RELEASE] = { .size = sizeof(struct wire_tracer_release) },
	[WIRE_TRACER_IO_FILE] = { .parse = parse_io_file },
	[WIRE_TRACER_IO_BEGUN] = { .size = sizeof(struct wire_tracer_io_begun) },
	[WIRE_TRACER_IO_DONE] = { .size = sizeof(struct wire_tracer_io_done) },
	[WIRE_TRACER_IO_LEFT] = { .size = sizeof(struct wire_tracer_io_done) },
};

_Static_assert(sizeof(((struct timer_record *)0)->fixed) >=
		       sizeof(struct wire_tracer_io_done),
	       "the largest");

/* False: it is of none that is known. */
static bool parse_kind(struct reader *r, struct timer_record_stacks *stacks,
		       struct timer_record *ret)
{
	static const struct kind none = { 0 };
	bool is_known = ret->kind < sizeof(kinds) / sizeof(kinds[0]);
	const struct kind *k = is_known ? &kinds[ret->kind] : &none;

	if (ret->kind == WIRE_SAMPLER_SAMPLE)
		parse_sample(r, stacks, ret);
	else if (k->parse)
		k->parse(r, ret);
	else if (k->size)
		parse_fixed(r, ret->fixed, k->size);
	else
		return false;
	return true;
}

int timer_record_parse(struct timer_record_stacks *stacks, unsigned kind,
		       const void *payload, size_t size, struct timer_record *ret,
		       struct err *e)
{
	struct reader r = reader_over(payload, size);

	ret->kind = kind;
	if (!parse_kind(&r, stacks, ret))
		return err_set(e, ERR_FORMAT, "a record of unknown kind %u", kind);
	if (r.bad)
		return err_set(e, ERR_FORMAT, "a damaged record of kind %u", kind);
	return 0;
}
