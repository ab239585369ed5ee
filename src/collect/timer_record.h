/* SPDX-License-Identifier: Apache-2.0
 *
 * timer_record - one record of the sampler or tracer in the target (wire/sampler.h,
 * wire/tracer.h), parsed.
 *
 * The bytes come from a process that nobody vouches for.  Stacks are differences from
 * the same slot's previous one, so records of one ring go through one timer_stacks in
 * their order.
 */
#ifndef DWELL_COLLECT_TIMER_RECORD_H
#define DWELL_COLLECT_TIMER_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/own.h"
#include "base/vec.h"
#include "wire/tracer_regions.h"
#include "wire/sampler.h"
#include "wire/tracer.h"
#include "wire/tracer_io.h"
#include "wire/tracer_sync.h"

#define TIMER_RECORD_PATH_MAX 4096

struct timer_record {
	unsigned kind; /* enum wire_sampler_kind or wire_tracer_kind */
	union {
		uint8_t fixed[64]; /* of those that have neither text nor frames */
		struct wire_sampler_start start;
		struct wire_sampler_module module;
		struct wire_sampler_thread thread;
		struct wire_sampler_sample sample;
		struct wire_tracer_stack stack;
		struct wire_tracer_alloc alloc;
		struct wire_tracer_free free;
		struct wire_tracer_unmap unmap;
		struct wire_tracer_heap_end heap_end;
		struct wire_tracer_fpe fpe;
		struct wire_tracer_fpe_again fpe_again;
		struct wire_regions_name region_name;
		struct wire_regions_nodes region_nodes;
		struct wire_regions_text region_text;
		struct wire_tracer_sync_start sync_start;
		struct wire_tracer_place place;
		struct wire_tracer_wait wait;
		struct wire_tracer_release release;
		struct wire_tracer_io_file io_file;
		struct wire_tracer_io_begun io_begun;
		struct wire_tracer_io_done io_done;
	};
	char comm[17];			      /* of a start and a thread */
	char path[TIMER_RECORD_PATH_MAX + 1]; /* of a start, a module, a file of I/O */
	uint64_t pcs[WIRE_SAMPLER_DEPTH_MAX]; /* of a sample or stack, innermost first */
	uint8_t exact[WIRE_SAMPLER_DEPTH_MAX / 8];
	const uint8_t *rest; /* of one of regions; until the next record is parsed */
	size_t n_rest;
};

/* The last stack of each slot. */
struct timer_record_stacks {
	struct map index; /* slot → place in at */
	VEC(struct timer_stack *) at;
};

void timer_record_stacks_fini(struct timer_record_stacks *s);

/* Parse the payload of a record; *ret is wholly set only on success. */
must_use int timer_record_parse(struct timer_record_stacks *stacks, unsigned kind,
				const void *payload, size_t size,
				struct timer_record *ret, struct err *e);

#endif
