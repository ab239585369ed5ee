/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_counts.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "collect/jit_files.h"
#include "collect/kernel_frames.h"
#include "collect/pseudo_image.h"
#include "collect/system_classes.h"
#include "collect/system_images.h"
#include "host/executable.h"

_Static_assert((int)STACK_STOP_END == (int)UNWIND_END, "one numbering");
_Static_assert((int)STACK_STOP_NO_MAP == (int)UNWIND_NO_MAP, "one numbering");
_Static_assert((int)STACK_STOP_NO_TABLE == (int)UNWIND_NO_TABLE, "one numbering");
_Static_assert((int)STACK_STOP_BAD_RULE == (int)UNWIND_BAD_RULE, "one numbering");
_Static_assert((int)STACK_STOP_BAD_MEMORY == (int)UNWIND_BAD_MEMORY, "one numbering");
_Static_assert((int)STACK_STOP_LIMIT == (int)UNWIND_LIMIT, "one numbering");
_Static_assert((int)STACK_STOP_NO_PROGRESS == (int)UNWIND_NO_PROGRESS, "one numbering");
_Static_assert((int)STACK_STOP_NO_REGISTER == (int)UNWIND_NO_REGISTER, "one numbering");
_Static_assert((int)STACK_STOP_32BIT == (int)UNWIND_32BIT, "one numbering");
_Static_assert((int)STACK_STOP_NOT_LOADED == (int)UNWIND_NOT_LOADED, "one numbering");

/* A key: where its record is, and what was counted since the last drain. */
struct counted {
	size_t at;
	uint64_t count, weight;
	uint64_t n_waits, wait_ns; /* for a CPU, behind what the key stands for */
};

/* Of one of the kernel's tables, since it was drained last. */
struct keys {
	struct map at; /* key → index of counted */
	VEC(struct counted) counted;
	struct buf records;
};

struct system_counts {
	struct system_images *images;
	struct system_classes *classes;
	struct writer *writer;
	struct system_counts_events events;
	struct kernel_frames *kernel;
	struct jit_files *jit;
	struct keys tables[2];
	/* Of the recording. */
	struct map code_images; /* pid → image of code without a file */
	uint32_t unknown, truncated;
	/* For good. */
	struct system_counts_stats stats;
};

struct system_counts *system_counts_new(struct system_images *images)
{
	struct system_counts *c = xcalloc(1, sizeof(*c));

	c->images = images;
	c->classes = system_classes_new(images);
	return c;
}

static void end_recording(struct system_counts *c)
{
	kernel_frames_free(c->kernel);
	jit_files_free(c->jit);
	system_classes_end(c->classes);
	map_fini(&c->code_images);
	c->kernel = NULL;
	c->jit = NULL;
	c->writer = NULL;
}

void system_counts_free(struct system_counts *c)
{
	if (!c)
		return;
	end_recording(c);
	for (unsigned i = 0; i < 2; i++) {
		map_fini(&c->tables[i].at);
		vec_fini(&c->tables[i].counted);
		buf_fini(&c->tables[i].records);
	}
	system_classes_free(c->classes);
	free(c);
}

void system_counts_freep(struct system_counts **c)
{
	system_counts_free(*c);
}

void system_counts_begin(struct system_counts *c, struct writer *w,
			 const struct system_counts_events *events)
{
	end_recording(c);
	c->writer = w;
	c->events = *events;
	c->kernel = kernel_frames_new(w);
	c->jit = jit_files_new(w);
	c->unknown = c->truncated = MODEL_NONE;
	system_images_begin(c->images, w);
	system_classes_begin(c->classes, w, events->is_kept);
}

void system_counts_stack(struct system_counts *c, const struct stack_record *r)
{
	struct keys *k = &c->tables[r->table & 1];
	bool is_new;
	uint64_t *at = map_slot(&k->at, r->key, &is_new);

	if (!is_new) /* told again, after it had left the table */
		return;
	*at = k->counted.n;
	*vec_push(&k->counted) = (struct counted){ .at = k->records.size };
	buf_add(&k->records, r,
		offsetof(struct stack_record, frames) +
			8 * ((size_t)r->n_kernel + r->n_user));
}

void system_counts_count(struct system_counts *c, unsigned table, uint64_t key,
			 uint32_t count)
{
	struct keys *k = &c->tables[table];
	const uint64_t *at = map_find(&k->at, key);

	if (!at) {
		c->stats.strays += count;
		return;
	}
	k->counted.at[*at].count += count;
	k->counted.at[*at].weight += count * c->events.period;
}

void system_counts_time(struct system_counts *c, uint64_t key,
			const struct state_record_sum *more)
{
	struct keys *k = &c->tables[0];
	const uint64_t *at = map_find(&k->at, key);

	if (!at) {
		c->stats.strays += more->count + more->n_waits;
		return;
	}
	k->counted.at[*at].count += more->count;
	k->counted.at[*at].weight += more->ns;
	k->counted.at[*at].n_waits += more->n_waits;
	k->counted.at[*at].wait_ns += more->wait_ns;
}

/* Code that no file explains is of one process. */
static uint32_t code_image(struct system_counts *c, uint32_t pid)
{
	bool is_new, is_jit;
	uint64_t *slot = map_slot(&c->code_images, pid, &is_new);

	if (!is_new)
		return (uint32_t)*slot;
	is_jit = jit_files_has(c->jit, pid);
	*slot = writer_image(
		c->writer,
		&(struct model_image){
			.path = writer_string(c->writer, is_jit ? "[jit]" : "[anon]"),
			.kind = is_jit ? IMAGE_JIT : IMAGE_ANON,
			.pid = pid });
	if (is_jit)
		jit_files_set_image(c->jit, pid, (uint32_t)*slot);
	return (uint32_t)*slot;
}

static uint32_t user_location(struct system_counts *c, const struct stack_record *r,
			      uint64_t frame)
{
	uint32_t flags = frame & STACK_RECORD_EXACT ? 0 : LOCATION_RETURN;
	uint32_t image = (uint32_t)(frame >> STACK_RECORD_IMAGE_SHIFT);
	uint64_t offset = frame & STACK_RECORD_OFFSET;

	if (image == STACK_RECORD_UNMAPPED)
		return writer_location(
			c->writer,
			pseudo_image(c->writer, &c->unknown, IMAGE_UNKNOWN, "[unknown]"),
			0, 0);
	if (image < STACK_RECORD_ADDRESS)
		return writer_location(c->writer, system_images_id(c->images, image),
				       offset, flags);
	offset |= (uint64_t)(image - STACK_RECORD_ADDRESS) << STACK_RECORD_OFFSET_BITS;
	return writer_location(c->writer, code_image(c, r->pid), offset, flags);
}

/* The outermost frame is where the kernel started the program, or its linker. */
static bool is_entry(const struct system_counts *c, uint64_t frame)
{
	uint32_t image = (uint32_t)(frame >> STACK_RECORD_IMAGE_SHIFT);

	return executable_is_entry(system_images_entry(c->images, image),
				   frame & STACK_RECORD_OFFSET);
}

static uint32_t build_stack(struct system_counts *c, const struct stack_record *r,
			    uint64_t count)
{
	const uint64_t *user = r->frames + r->n_kernel;
	uint32_t n_user = r->n_user, stack = 0;
	uint32_t stop = r->stop < UNWIND_N_STOPS ? r->stop : UNWIND_BAD_RULE;

	if (n_user && is_entry(c, user[n_user - 1]))
		stop = UNWIND_END;
	if (n_user)
		c->stats.stops[stop] += count;
	if (n_user && stop != UNWIND_END)
		stack = writer_stack(
			c->writer, stack,
			writer_location(c->writer,
					pseudo_image(c->writer, &c->truncated,
						     IMAGE_TRUNCATED, "[truncated]"),
					stop, 0));
	for (uint32_t i = n_user; i-- > 0;)
		stack = writer_stack(c->writer, stack, user_location(c, r, user[i]));
	for (uint32_t i = r->n_kernel; i-- > 0;)
		stack = writer_stack(c->writer, stack,
				     kernel_frames_location(c->kernel, r->frames[i],
							    i ? LOCATION_RETURN : 0));
	return stack;
}

static const struct stack_record *record_of(const struct keys *keys,
					    const struct counted *k)
{
	return (const void *)(keys->records.data + k->at);
}

static void write_key(struct system_counts *c, const struct stack_record *r,
		      const struct counted *k, uint64_t now_ns)
{
	struct model_sample sample = {
		.time_ns = now_ns,
		.weight = k->weight,
		.event = c->events.ids[r->state % SYSTEM_COUNTS_EVENTS_MAX],
		.thread = system_classes_id(c->classes, r),
		.stack = build_stack(c, r, k->count),
		.count = (uint32_t)k->count,
	};

	if (k->count)
		writer_sample(c->writer, &sample);
	c->stats.samples += k->count;
	if (!k->n_waits)
		return;
	sample.weight = k->wait_ns;
	sample.count = (uint32_t)k->n_waits;
	sample.event = c->events.ids[STATE_RECORD_WAIT_CPU];
	writer_sample(c->writer, &sample);
}

void system_counts_write(struct system_counts *c, unsigned table, uint64_t now_ns)
{
	struct keys *keys = &c->tables[table];

	vec_each(k, &keys->counted)
		system_classes_learn(c->classes, record_of(keys, k));
	vec_each(k, &keys->counted) {
		if (!c->writer) /* the disk is full: there is no recording */
			c->stats.strays += k->count;
		else if (k->count || k->n_waits)
			write_key(c, record_of(keys, k), k, now_ns);
		*k = (struct counted){ .at = k->at };
	}
	if (c->events.is_kept)
		return;
	map_clear(&keys->at);
	keys->counted.n = 0;
	buf_clear(&keys->records);
}

int system_counts_end(struct system_counts *c, bool has_symbols, struct err *e)
{
	int rc = has_symbols ? kernel_frames_keep_symbols(c->kernel, e) : 0;
	int rc2 = jit_files_keep(c->jit, rc ? NULL : e);

	end_recording(c);
	return rc ? rc : rc2;
}

const struct system_counts_stats *system_counts_stats(const struct system_counts *c)
{
	return &c->stats;
}
