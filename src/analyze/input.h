/* SPDX-License-Identifier: Apache-2.0
 *
 * input - one recording of a profile, its samples summed per distinct stack.
 *
 * Flat arrays indexed by the recording's own ids: a stack that was seen has a slot, a
 * slot holds one weight and one count per column of this recording.  An order puts the
 * stacks that carry weight depth first, so that passes over the tree do not chase
 * pointers.  Owned by the profile; written while it is loaded, read-only afterwards.
 */
#ifndef DWELL_ANALYZE_INPUT_H
#define DWELL_ANALYZE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/recording.h"

struct block_graph;
struct call_shares;

struct input {
	struct recording *recording;
	bool is_borrowed;   /* the recording is */
	size_t first_block; /* samples before it are left out */
	const struct model_stack *stacks;
	const struct model_location *locations;
	uint32_t n_stacks, n_locations;

	uint32_t first_column, n_columns; /* this recording's columns in the profile */
	/* 0 … n_columns - 1; MODEL_NONE: not selected.  The last, behind all events that
	 * were recorded, is that of ideal time. */
	uint32_t *column_of_event;

	struct block_graph *block_graph; /* NULL until input_block_graph() made it */
	struct call_shares *call_shares;
	uint32_t ideal_column;	/* 0 … n_columns - 1, MODEL_NONE: not shown */
	uint32_t counted_event; /* whose samples it is computed from */
	double *block_cycles;	/* [block of the graph]: each time; negative: unknown */
	double *ideal_factors;	/* [location]: ns each time */
	double ideal_missing;	/* share of all counts: their code is not at hand */

	uint32_t *slot_of_stack; /* slot + 1; 0: nothing was counted there */
	size_t n_slots, cap_slots;
	uint64_t *values; /* of a slot: n_columns weights, then as many counts */

	/* Frames of a location, outermost first, in the profile's frame array. */
	uint32_t *first_frame, *n_frames;

	/* The stacks with weight in or below them, every parent right before what is
	 * below it; the empty stack is the first. */
	uint32_t *order;
	size_t n_ordered;

	uint64_t *interval_ends;   /* [i]: the latest end of the intervals 0 … i */
	uint64_t start_ns, end_ns; /* of the recording; start is time 0 for people */
	uint64_t n_taken;    /* samples that were read, of all events, chosen or not */
	size_t n_bad_blocks; /* blocks that could not be read */
	char bad_block[160]; /* what was wrong with the first of them */
};

void input_fini(struct input *s);
/* Opens the file and learns its time span. */
must_use int input_open(struct input *s, const char *path, struct err *e);
/* Of a recording that is open already. */
void input_borrow(struct input *s, struct recording *r, size_t first_block);
/* The event that has every instruction executed; MODEL_NONE: none has. */
uint32_t input_counted_event(const struct recording *r);
/* Its column of this recording; an error where it was not asked for. */
must_use int input_counted_column(const struct input *s, uint32_t *ret, struct err *e);
/* The basic blocks of all processes together, made when somebody first asks: borrowed. */
must_use int input_block_graph(struct input *s, const struct block_graph **ret,
			       struct err *e);
/* The slot of a stack, made when it has none. */
uint32_t input_slot(struct input *s, uint32_t stack);
/* Put the stacks in order, after the samples were summed. */
void input_order(struct input *s);
/* is_used[location]: it is on a stack that carries weight.  Needs the order. */
void input_mark_locations(const struct input *s, bool *is_used);

/* Weights of a stack by column of this source, or NULL. */
static inline const uint64_t *input_weights(const struct input *s, uint32_t stack)
{
	uint32_t slot = s->slot_of_stack[stack];

	return slot ? s->values + (size_t)(slot - 1) * 2 * s->n_columns : NULL;
}

static inline const uint64_t *input_counts(const struct input *s, uint32_t stack)
{
	const uint64_t *weights = input_weights(s, stack);

	return weights ? weights + s->n_columns : NULL;
}

/* The frames a stack's own location adds: first and number; none for the empty stack. */
static inline uint32_t input_frames(const struct input *s, uint32_t stack, uint32_t *n)
{
	uint32_t location = s->stacks[stack].location;

	*n = stack ? s->n_frames[location] : 0;
	return stack ? s->first_frame[location] : 0;
}

#endif
