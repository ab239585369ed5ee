/* SPDX-License-Identifier: Apache-2.0
 *
 * system_counts - what the kernel counted, as samples of a recording.
 *
 * Between two drains, keys are remembered with what they stand for; then each that was
 * counted becomes one sample.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_COUNTS_H
#define DWELL_COLLECT_SYSTEM_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "store/writer.h"
#include "unwind/stop.h"
#include "wire/stack_record.h"
#include "wire/state_record.h"

struct state_code;
struct system_classes;
struct system_counts;
struct system_images;

#define SYSTEM_COUNTS_EVENTS_MAX 32

#define SYSTEM_COUNTS_LABEL_MAX 64

/* Of sums that are more than a state's time: which event each part of one is, by its
 * number; SYSTEM_COUNTS_NONE: none. */
#define SYSTEM_COUNTS_NONE SYSTEM_COUNTS_EVENTS_MAX

struct system_counts_parts {
	uint8_t ns, count, n_waits;
	uint8_t wait_ns; /* of what has it for something else */
	uint8_t pair;	 /* the count of a pair, whose waiter is such a sum */
	uint8_t each;	 /* one of what is in the sum, by itself */
	uint8_t beside;	 /* of one that goes on beside its thread */
	/* Its time, and its number is that of the stack that ended such a sum's wait:
	 * what that is called.  NULL: it is a number of another kind. */
	const char *woken_by;
};

/* What else is known of a sum since the last time: of an event, inside of a last label or
 * NULL. */
#define SYSTEM_COUNTS_MORE_MAX 64

struct system_counts_more {
	uint32_t event; /* its number */
	uint64_t weight;
	const char *label; /* inside of the stack, or NULL */
	uint64_t count;	   /* 0: the weight of what has a label, else the sum's */
};

/* How such sums are told: what is inside of their stacks' innermost frames. */
struct system_counts_how {
	struct system_counts_parts parts[SYSTEM_COUNTS_EVENTS_MAX]; /* by a sum's event */
	/* A label's name, and that of a pair's second number; "": there is none. */
	void (*label)(uint32_t label, char ret[SYSTEM_COUNTS_LABEL_MAX]);
	void (*pair_label)(uint64_t number, char ret[SYSTEM_COUNTS_LABEL_MAX]);
	void *ctx;
	/* A name inside of the label's, of any size, and what is beside a sum; each may
	 * be NULL. */
	const char *(*inner)(void *ctx, uint32_t label);
	size_t (*more)(void *ctx, uint32_t number,
		       struct system_counts_more ret[SYSTEM_COUNTS_MORE_MAX]);
	/* What our own libraries do in a program, and how they get there, is no sample:
	 * nothing of that label is; or NULL. */
	bool (*is_own)(void *ctx, uint32_t label);
	/* What is of that label goes on beside its thread; or NULL. */
	bool (*is_beside)(uint32_t label);
};

/* Of the recording, by the number that keys have. */
struct system_counts_events {
	uint32_t ids[SYSTEM_COUNTS_EVENTS_MAX];
	/* What a count stands for; 0: its time is told. */
	uint64_t periods[SYSTEM_COUNTS_EVENTS_MAX];
	bool is_kept;	   /* keys are told once, and stay until they are forgotten */
	bool is_by_thread; /* every thread by itself, under the names it had last */
	/* Who there is, where others tell of it in the same recording, begun; borrowed
	 * until its end.  NULL: nobody does, and of processes that the kernel tells
	 * apart only the chosen are to be; borrowed, or NULL: all. */
	struct system_classes *classes;
	const struct path_choice *chosen;
	/* How wakers are called; borrowed. */
	const struct state_code *code;
	const struct system_counts_how *how; /* NULL: states of threads; borrowed */
	/* Called now and then while a table is written, which takes a while where much
	 * was told: what is told in between may be handed in, where keys are kept.  NULL:
	 * nobody is. */
	void (*meanwhile)(void *ctx);
	void *meanwhile_ctx;
};

struct system_counts_stats {
	uint64_t samples; /* put into recordings */
	uint64_t strays;  /* counted under a key that nobody told of */
	uint64_t of_events[SYSTEM_COUNTS_EVENTS_MAX]; /* of the samples */
	uint64_t stops[UNWIND_N_STOPS];
};

struct system_counts *system_counts_new(struct system_images *images);
void system_counts_free(struct system_counts *c);
void system_counts_freep(struct system_counts **c);

/* From the sampler. */
void system_counts_stack(struct system_counts *c, const struct stack_record *r);
void system_counts_count(struct system_counts *c, unsigned table, uint64_t key,
			 uint32_t count);
/* From the states: what is of two stacks; the same as another key; one of what was
 * summed; time since the last. */
void system_counts_pair(struct system_counts *c, const struct stack_record_pair *r);
void system_counts_again(struct system_counts *c, const struct stack_record_again *r);
void system_counts_each(struct system_counts *c, const struct stack_record_each *r);
void system_counts_time(struct system_counts *c, uint64_t key,
			const struct state_record_sum *more);

/* Samples go into this recording from now on. */
void system_counts_begin(struct system_counts *c, struct writer *w,
			 const struct system_counts_events *events);
/* From now on a sample of that event stands for so many times its period: it was not on
 * all the time. */
void system_counts_scale(struct system_counts *c, uint32_t event, double scale);
/* How many samples of an event are in a table that is not written yet. */
uint64_t system_counts_n_waiting(const struct system_counts *c, unsigned table,
				 uint32_t event);
/* Everything counted in a table becomes samples of now; its keys are forgotten, unless
 * they are kept. */
void system_counts_write(struct system_counts *c, unsigned table, uint64_t now_ns);
/* What is of processes that others have not told of yet, though they may, waits for a
 * while. */
void system_counts_write_known(struct system_counts *c, unsigned table, uint64_t now_ns);
/* Kept keys, when all that was counted is written: what keys of the other table stand for
 * stays known. */
void system_counts_forget(struct system_counts *c, unsigned table);
/* What kept keys of a table stand for, as records behind each other; borrowed until the
 * next is told or forgotten. */
const void *system_counts_records(const struct system_counts *c, unsigned table,
				  size_t *ret_size);
/* Such records of another's table, before any other is told. */
void system_counts_load(struct system_counts *c, unsigned table, const void *records,
			size_t size);
/* The number of every file that a key which is known now stands for, in any order, some
 * more than once. */
void system_counts_each_image(const struct system_counts *c, void *ctx,
			      void (*image)(void *ctx, uint32_t number));
/* What names need goes into the recording: maps of compilers, and the kernel's symbols
 * unless somebody else sees to these. */
must_use int system_counts_end(struct system_counts *c, bool has_symbols, struct err *e);

const struct system_counts_stats *system_counts_stats(const struct system_counts *c);

#endif
