/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "collect/system_classes.h"
#include "collect/system_images.h"
#include "collect/system_keys.h"
#include "collect/system_stacks.h"
#include "collect/waker_name.h"

#define WRITTEN_AT_ONCE 256 /* keys: one or two milliseconds */
/* Others have told of a process by then, if they do. */
#define WAIT_NS UINT64_C(200000000)

/* One of what was summed, by itself. */
struct each {
	uint64_t key, from_ns, ns;
	/* For what its key stands for, or for others to tell of that; 0: it has not. */
	uint64_t waits_since_ns;
};

struct system_counts {
	struct system_images *images;
	struct system_classes *classes,
		*own_classes; /* of the recording; if it has none */
	struct system_classes_teller teller;
	struct writer *writer;
	struct system_counts_events events;
	/* Of events that are not always on; what rounding left is in the next sample. */
	double scales[SYSTEM_COUNTS_EVENTS_MAX], rests[SYSTEM_COUNTS_EVENTS_MAX];
	struct system_stacks *stacks; /* of the recording */
	struct system_keys tables[2]; /* since each was drained last */
	VEC(struct each) each[2];
	struct system_counts_stats stats; /* for good */
};

struct system_counts *system_counts_new(struct system_images *images)
{
	struct system_counts *c = xcalloc(1, sizeof(*c));

	c->images = images;
	c->own_classes = system_classes_new();
	for (uint32_t i = 0; i < SYSTEM_COUNTS_EVENTS_MAX; i++)
		c->scales[i] = 1;
	return c;
}

static void end_recording(struct system_counts *c)
{
	system_stacks_free(c->stacks);
	system_classes_end(c->own_classes);
	c->stacks = NULL;
	c->writer = NULL;
}

void system_counts_free(struct system_counts *c)
{
	if (!c)
		return;
	end_recording(c);
	for (unsigned i = 0; i < 2; i++) {
		system_keys_fini(&c->tables[i]);
		vec_fini(&c->each[i]);
	}
	system_classes_free(c->own_classes);
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
	c->stacks = system_stacks_new(c->images, w);
	system_images_begin(c->images, w);
	c->classes = events->classes ? events->classes : c->own_classes;
	c->teller = (struct system_classes_teller){ c->images, events->is_by_thread };
	system_classes_begin(c->own_classes, w, events->chosen, NULL);
}

void system_counts_stack(struct system_counts *c, const struct stack_record *r)
{
	system_keys_add(&c->tables[r->table & 1], r->key, STACK_RECORD_STACK, r,
			system_keys_bytes(r));
}

void system_counts_pair(struct system_counts *c, const struct stack_record_pair *r)
{
	system_keys_add(system_keys_of(c->tables, r->key), r->key, STACK_RECORD_PAIR, r,
			sizeof(*r));
}

void system_counts_again(struct system_counts *c, const struct stack_record_again *r)
{
	system_keys_add(system_keys_of(c->tables, r->key), r->key, STACK_RECORD_AGAIN, r,
			sizeof(*r));
}

void system_counts_each(struct system_counts *c, const struct stack_record_each *r)
{
	*vec_push(&c->each[STATE_RECORD_GENERATION(r->key) & 1]) =
		(struct each){ .key = r->key, .from_ns = r->from_ns, .ns = r->ns };
}

void system_counts_count(struct system_counts *c, unsigned table, uint64_t key,
			 uint32_t count)
{
	struct system_keys *k = &c->tables[table];
	const uint64_t *at = map_find(&k->at, key);

	if (!at) {
		c->stats.strays += count;
		return;
	}
	k->counted.at[*at].count += count;
}

/* What is beside the sum of the number. */
static size_t take_more(struct system_counts *c, uint64_t number,
			struct system_counts_more ret[SYSTEM_COUNTS_MORE_MAX])
{
	const struct system_counts_how *how = c->events.how;

	return how && how->more ? how->more(how->ctx, (uint32_t)number, ret) : 0;
}

/* With the sum that is no sample: it would be taken for what the next of its number has.
 */
static void drop_more(struct system_counts *c, uint64_t number)
{
	struct system_counts_more more[SYSTEM_COUNTS_MORE_MAX];

	take_more(c, number, more);
}

void system_counts_time(struct system_counts *c, uint64_t key,
			const struct state_record_sum *more)
{
	struct system_keys *k = system_keys_of(c->tables, key);
	const uint64_t *at = map_find(&k->at, key);

	if (!at) {
		drop_more(c, key);
		c->stats.strays += more->count + more->n_waits;
		return;
	}
	k->counted.at[*at].count += more->count;
	k->counted.at[*at].weight += more->ns;
	k->counted.at[*at].n_waits += more->n_waits;
	k->counted.at[*at].wait_ns += more->wait_ns;
}

/* NULL: none was told. */
static const struct stack_record *stack_of(struct system_counts *c, uint64_t number)
{
	return system_keys_mean(c->tables, number).stack;
}

void system_counts_scale(struct system_counts *c, uint32_t event, double scale)
{
	c->scales[event] = scale;
}

uint64_t system_counts_n_waiting(const struct system_counts *c, unsigned table,
				 uint32_t event)
{
	const struct system_keys *keys = &c->tables[table];
	uint64_t n = 0;

	vec_each(k, &keys->counted) {
		const struct stack_record *r = system_keys_record(keys, k);

		if (k->kind == STACK_RECORD_STACK &&
		    r->state % SYSTEM_COUNTS_EVENTS_MAX == event)
			n += k->count;
	}
	return n;
}

/* What was counted stands for. */
static uint64_t weight_of(struct system_counts *c, uint32_t event,
			  const struct system_key *k)
{
	uint64_t period = c->events.periods[event], whole;
	double exact;

	if (!period)
		return k->weight;
	if (c->scales[event] == 1)
		return k->count * period;
	exact = (double)k->count * (double)period * c->scales[event] + c->rests[event];
	whole = (uint64_t)exact;
	c->rests[event] = exact - (double)whole;
	return whole;
}

static void write_key(struct system_counts *c, const struct stack_record *r,
		      const struct system_key *k, uint64_t now_ns)
{
	uint32_t event = r->state % SYSTEM_COUNTS_EVENTS_MAX;
	struct model_sample sample = {
		.time_ns = now_ns,
		.weight = weight_of(c, event, k),
		.event = c->events.ids[event],
		.thread = system_classes_id(c->classes, &c->teller, r),
		.cpu = r->cpu,
		.count = (uint32_t)k->count,
	};
	enum unwind_stop stop;

	sample.stack = system_stacks_id(c->stacks, r, sample.thread, &stop);
	if (stop != UNWIND_N_STOPS)
		c->stats.stops[stop] += k->count;
	if (k->count || sample.weight)
		writer_sample(c->writer, &sample);
	c->stats.samples += k->count;
	c->stats.of_events[event] += k->count;
	if (!k->n_waits && !k->wait_ns)
		return;
	sample.weight = k->wait_ns;
	sample.count = (uint32_t)k->n_waits;
	sample.event = c->events.ids[STATE_RECORD_WAIT_CPU];
	writer_sample(c->writer, &sample);
}

/* One part of a sum. */
static void write_part(struct system_counts *c, struct model_sample *sample,
		       unsigned event, uint64_t weight, uint64_t count)
{
	if (event >= SYSTEM_COUNTS_EVENTS_MAX || !weight)
		return;
	sample->event = c->events.ids[event];
	sample->weight = weight;
	sample->count = count ? (uint32_t)count : 1;
	writer_sample(c->writer, sample);
}

/* The stack with what is inside of it. */
static uint32_t labelled(struct system_counts *c, const struct system_keys_meaning *m,
			 uint32_t thread, enum unwind_stop *stop)
{
	const struct system_counts_how *how = c->events.how;
	const struct stack_record *r = m->stack;
	char label[SYSTEM_COUNTS_LABEL_MAX];
	const char *const names[] = { label,
				      how->inner ? how->inner(how->ctx, m->label) : "" };
	uint32_t stack;

	how->label(m->label, label);
	stack = system_stacks_labelled_id(c->stacks, r, names,
					  sizeof(names) / sizeof(names[0]), thread, stop);
	return r->object ? system_stacks_object(c->stacks, stack, r) : stack;
}

/* It is not the program's. */
static bool is_own(const struct system_counts *c, const struct system_keys_meaning *m)
{
	const struct system_counts_how *how = c->events.how;

	return how->is_own && (how->is_own(how->ctx, m->label) ||
			       system_stacks_is_own(c->stacks, m->stack));
}

/* The same, which was counted so often. */
static void write_more(struct system_counts *c, uint64_t number, uint64_t count,
		       struct model_sample *sample)
{
	struct system_counts_more more[SYSTEM_COUNTS_MORE_MAX];
	size_t n = take_more(c, number, more);
	uint32_t stack = sample->stack;

	for (size_t i = 0; i < n; i++) {
		sample->stack = more[i].label ? system_stacks_label(c->stacks, stack,
								    more[i].label)
					      : stack;
		write_part(c, sample, more[i].event, more[i].weight,
			   more[i].count   ? more[i].count
			   : more[i].label ? more[i].weight
					   : count);
	}
}

static void write_parts(struct system_counts *c, const struct system_keys_meaning *m,
			const struct system_key *k, uint64_t number, uint64_t now_ns)
{
	uint32_t event = m->state % SYSTEM_COUNTS_EVENTS_MAX;
	const struct system_counts_parts *parts = &c->events.how->parts[event];
	struct model_sample sample = { .time_ns = now_ns,
				       .thread = system_classes_id(c->classes, &c->teller,
								   m->stack),
				       .cpu = m->stack->cpu };
	enum unwind_stop stop;

	if (is_own(c, m)) {
		drop_more(c, number);
		return;
	}
	sample.stack = labelled(c, m, sample.thread, &stop);
	if (stop != UNWIND_N_STOPS)
		c->stats.stops[stop] += k->count;
	write_part(c, &sample, parts->ns, k->weight, k->count);
	write_part(c, &sample, parts->count, k->count, k->count);
	write_part(c, &sample, parts->n_waits, k->n_waits, k->n_waits);
	write_part(c, &sample, parts->wait_ns, k->wait_ns, k->count);
	write_more(c, number, k->count, &sample);
	c->stats.samples += k->count;
	c->stats.of_events[event] += k->count;
}

/* number: the sum's, which may be another than that under which the stack was told. */
static void write_sum(struct system_counts *c, const struct system_keys_meaning *m,
		      const struct system_key *k, uint64_t number, uint64_t now_ns)
{
	if (c->events.how)
		write_parts(c, m, k, number, now_ns);
	else
		write_key(c, m->stack, k, now_ns);
}

static void write_told(struct system_counts *c, const struct stack_record *r,
		       const struct system_key *k, uint64_t now_ns)
{
	const struct system_keys_meaning m = { .stack = r,
					       .label = r->label,
					       .state = r->state };

	write_sum(c, &m, k, r->key, now_ns);
}

/* The waker's frames are inside of the waiter's, below a label that tells whose. */
static void write_pair(struct system_counts *c, const struct stack_record_pair *p,
		       const struct system_key *k, uint64_t now_ns)
{
	const struct stack_record *waiter = stack_of(c, p->waiter);
	const struct stack_record *waker = stack_of(c, p->waker);
	struct model_sample sample = { .time_ns = now_ns,
				       .cpu = STACK_RECORD_ANY_CPU,
				       .count = (uint32_t)k->count };
	const uint64_t weights[] = { k->count, k->wait_ns, k->weight };
	char name[WAKER_NAME_MAX];

	if (!waiter || !waker) {
		c->stats.strays += k->count;
		return;
	}
	waker_name(c->events.code, waker, name);
	sample.thread = system_classes_id(c->classes, &c->teller, waiter);
	sample.stack =
		system_stacks_pair_id(c->stacks, waiter, waker, name, sample.thread);
	for (unsigned i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
		sample.event = c->events.ids[STATE_RECORD_WAKEUPS + i];
		sample.weight = weights[i];
		if (sample.weight)
			writer_sample(c->writer, &sample);
	}
}

/* There is no recording, or nothing that it could be told by. */
static void write_stray(struct system_counts *c, uint64_t number,
			const struct system_key *k)
{
	drop_more(c, number);
	c->stats.strays += k->count + k->n_waits;
}

static void write_again(struct system_counts *c, const struct stack_record_again *a,
			const struct system_key *k, uint64_t now_ns)
{
	const struct system_keys_meaning m = system_keys_mean(c->tables, a->key);

	if (m.stack)
		write_sum(c, &m, k, a->key, now_ns);
	else
		write_stray(c, a->key, k);
}

/* Who ended the wait that the sample's stack is of. */
static void write_woken(struct system_counts *c, const struct system_counts_parts *parts,
			uint64_t waker, const struct system_key *k,
			struct model_sample *sample)
{
	const struct stack_record *by = stack_of(c, waker);

	if (!by) {
		c->stats.strays += k->count;
		return;
	}
	sample->stack = system_stacks_label(c->stacks, sample->stack, parts->woken_by);
	sample->stack = system_stacks_append(c->stacks, sample->stack, by);
	write_part(c, sample, parts->pair, k->weight, k->count);
}

/* What came of the sum of the pair. */
static void write_outcome(struct system_counts *c, const struct stack_record_pair *p,
			  const struct system_key *k, uint64_t now_ns)
{
	const struct system_keys_meaning of = system_keys_mean(c->tables, p->waiter);
	const struct system_counts_how *how = c->events.how;
	const struct system_counts_parts *parts;
	struct model_sample sample = { .time_ns = now_ns, .cpu = STACK_RECORD_ANY_CPU };
	char outcome[SYSTEM_COUNTS_LABEL_MAX];
	enum unwind_stop stop;

	if (!of.stack) {
		c->stats.strays += k->count;
		return;
	}
	if (is_own(c, &of))
		return;
	parts = &how->parts[of.state % SYSTEM_COUNTS_EVENTS_MAX];
	sample.thread = system_classes_id(c->classes, &c->teller, of.stack);
	sample.stack = labelled(c, &of, sample.thread, &stop);
	if (parts->woken_by) {
		write_woken(c, parts, p->waker, k, &sample);
		return;
	}
	how->pair_label(p->waker, outcome);
	if (*outcome)
		sample.stack = system_stacks_label(c->stacks, sample.stack, outcome);
	write_part(c, &sample, parts->pair, k->count, k->count);
}

static unsigned each_event(const struct system_counts_how *how,
			   const struct system_keys_meaning *m)
{
	const struct system_counts_parts *parts =
		&how->parts[m->state % SYSTEM_COUNTS_EVENTS_MAX];

	return how->is_beside && how->is_beside(m->label) ? parts->beside : parts->each;
}

static void write_each(struct system_counts *c, const struct system_keys_meaning *m,
		       const struct each *x)
{
	struct model_sample sample = { .time_ns = x->from_ns,
				       .thread = system_classes_id(c->classes, &c->teller,
								   m->stack),
				       .cpu = m->stack->cpu };
	enum unwind_stop stop;

	if (is_own(c, m))
		return;
	sample.stack = labelled(c, m, sample.thread, &stop);
	write_part(c, &sample, each_event(c->events.how, m), x->ns, 1);
}

static bool has_counted(const struct system_key *k)
{
	return k->count || k->n_waits || k->weight || k->wait_ns;
}

static void write_counted(struct system_counts *c, const struct system_keys *keys,
			  const struct system_key *k, uint64_t now_ns)
{
	const void *record = system_keys_record(keys, k);

	if (!c->writer) /* the disk is full */
		write_stray(c, ((const struct stack_record *)record)->key, k);
	else if (k->kind == STACK_RECORD_PAIR && c->events.how)
		write_outcome(c, record, k, now_ns);
	else if (k->kind == STACK_RECORD_PAIR)
		write_pair(c, record, k, now_ns);
	else if (k->kind == STACK_RECORD_AGAIN)
		write_again(c, record, k, now_ns);
	else
		write_told(c, record, k, now_ns);
}

/* The stack of whom it was counted, NULL: none was told. */
static const struct stack_record *owner_of(struct system_counts *c,
					   const struct system_keys *keys,
					   const struct system_key *k)
{
	const void *record = system_keys_record(keys, k);

	if (k->kind == STACK_RECORD_PAIR)
		return stack_of(c, ((const struct stack_record_pair *)record)->waiter);
	if (k->kind == STACK_RECORD_AGAIN)
		return stack_of(c, ((const struct stack_record_again *)record)->key);
	return record;
}

/* Some processes nobody tells of. */
static bool may_wait_on(uint64_t *since_ns, uint64_t now_ns)
{
	if (!*since_ns)
		*since_ns = now_ns;
	return now_ns - *since_ns < WAIT_NS;
}

static bool must_wait(struct system_counts *c, const struct system_keys *keys,
		      struct system_key *k, uint64_t now_ns)
{
	const struct stack_record *owner = owner_of(c, keys, k);

	return owner && system_classes_is_early(c->classes, &c->teller, owner) &&
	       may_wait_on(&k->waits_since_ns, now_ns);
}

static bool write_slot(struct system_counts *c, const struct system_keys *keys,
		       struct system_key *k, uint64_t now_ns, bool may_wait)
{
	if (!has_counted(k) || (may_wait && must_wait(c, keys, k, now_ns)))
		return false;
	write_counted(c, keys, k, now_ns);
	*k = (struct system_key){ .at = k->at,
				  .kind = k->kind,
				  .waits_since_ns = k->waits_since_ns };
	return true;
}

/* What its key stands for may be in another ring, which was fetched before: then it is
 * with the next drain.  As is what is early. */
static bool must_wait_each(struct system_counts *c, struct each *x,
			   const struct system_keys_meaning *m, uint64_t now_ns,
			   bool may_wait)
{
	bool is_early = m->stack ? may_wait && system_classes_is_early(
						       c->classes, &c->teller, m->stack)
				 : true;

	return is_early && may_wait_on(&x->waits_since_ns, now_ns);
}

static void look_meanwhile(const struct system_counts *c, size_t n_written)
{
	if (n_written % WRITTEN_AT_ONCE == 0 && c->events.meanwhile)
		c->events.meanwhile(c->events.meanwhile_ctx);
}

/* More may come meanwhile. */
static void write_all_each(struct system_counts *c, unsigned table, uint64_t now_ns,
			   bool may_wait)
{
	size_t n = c->each[table].n, n_left = 0;

	for (size_t i = 0; i < n; i++) {
		struct each x = c->each[table].at[i];
		const struct system_keys_meaning m = system_keys_mean(c->tables, x.key);

		if (!c->writer || !c->events.how) {
			continue;
		} else if (must_wait_each(c, &x, &m, now_ns, may_wait)) {
			c->each[table].at[n_left++] = x;
		} else if (m.stack) {
			write_each(c, &m, &x);
		} else {
			c->stats.strays++;
		}
		look_meanwhile(c, i + 1);
	}
	while (n < c->each[table].n)
		c->each[table].at[n_left++] = c->each[table].at[n++];
	c->each[table].n = n_left;
}

/* What is told meanwhile has counted nothing yet, and may be where the table is moved to.
 */
static void write_table(struct system_counts *c, unsigned table, uint64_t now_ns,
			bool may_wait)
{
	struct system_keys *keys = &c->tables[table];
	size_t n_written = 0;

	vec_each(k, &keys->counted)
		if (k->kind == STACK_RECORD_STACK)
			system_classes_learn(c->classes, &c->teller,
					     system_keys_record(keys, k));
	for (size_t i = 0, n = keys->counted.n; i < n; i++) {
		if (write_slot(c, keys, &keys->counted.at[i], now_ns, may_wait))
			look_meanwhile(c, ++n_written);
	}
	write_all_each(c, table, now_ns, may_wait);
	if (!c->events.is_kept)
		system_keys_clear(keys);
}

void system_counts_write(struct system_counts *c, unsigned table, uint64_t now_ns)
{
	write_table(c, table, now_ns, false);
}

void system_counts_write_known(struct system_counts *c, unsigned table, uint64_t now_ns)
{
	write_table(c, table, now_ns, c->events.is_kept);
}

void system_counts_forget(struct system_counts *c, unsigned table)
{
	system_keys_forget(c->tables, table);
}

const void *system_counts_records(const struct system_counts *c, unsigned table,
				  size_t *ret_size)
{
	*ret_size = c->tables[table].records.size;
	return c->tables[table].records.data;
}

void system_counts_load(struct system_counts *c, unsigned table, const void *records,
			size_t size)
{
	system_keys_load(&c->tables[table], records, size);
}

void system_counts_each_image(const struct system_counts *c, void *ctx,
			      void (*image)(void *ctx, uint32_t number))
{
	for (unsigned table = 0; table < 2; table++)
		system_keys_each_image(&c->tables[table], ctx, image);
}

int system_counts_end(struct system_counts *c, bool has_symbols, struct err *e)
{
	int rc = system_stacks_keep_names(c->stacks, has_symbols, e);

	end_recording(c);
	return rc;
}

const struct system_counts_stats *system_counts_stats(const struct system_counts *c)
{
	return &c->stats;
}
