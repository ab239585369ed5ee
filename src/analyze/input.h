/* SPDX-License-Identifier: Apache-2.0
 *
 * input - one recording of a profile, its samples summed per distinct stack.
 *
 * Flat arrays indexed by the recording's own ids: a stack that was seen has a slot, a
 * slot holds one weight and one count per column of this recording.  Links turn the
 * stacks that carry weight into a tree that can be walked down.  Owned by the profile;
 * written while it is loaded, read-only afterwards.
 */
#ifndef DWELL_ANALYZE_INPUT_H
#define DWELL_ANALYZE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/recording.h"

struct input {
	struct recording *recording;
	const struct model_stack *stacks;
	const struct model_location *locations;
	uint32_t n_stacks, n_locations;

	uint32_t first_column, n_columns; /* this recording's columns in the profile */
	uint32_t *column_of_event; /* 0 … n_columns - 1; MODEL_NONE: not selected */

	uint32_t *slot_of_stack; /* slot + 1; 0: nothing was counted there */
	size_t n_slots, cap_slots;
	uint64_t *weights, *counts; /* [slot * n_columns + column] */

	/* Frames of a location, outermost first, in the profile's frame array. */
	uint32_t *first_frame, *n_frames;

	/* The tree of stacks with weight in or below them; 0 ends a list. */
	uint32_t *first_child, *next_sibling;

	uint64_t start_ns, end_ns; /* of the recording; start is time 0 for people */
	size_t n_bad_blocks;	   /* blocks that could not be read */
	char bad_block[160];	   /* what was wrong with the first of them */
};

void input_fini(struct input *s);
/* Opens the file and learns its time span. */
must_use int input_open(struct input *s, const char *path, struct err *e);
/* The slot of a stack, made when it has none. */
uint32_t input_slot(struct input *s, uint32_t stack);
/* Build the links, after the samples were summed. */
void input_link(struct input *s);
/* is_used[location]: it is on a stack that carries weight.  Needs the links. */
void input_mark_locations(const struct input *s, bool *is_used);

/* Weights of a stack by column of this source, or NULL. */
static inline const uint64_t *input_weights(const struct input *s, uint32_t stack)
{
	uint32_t slot = s->slot_of_stack[stack];

	return slot ? s->weights + (size_t)(slot - 1) * s->n_columns : NULL;
}

static inline const uint64_t *input_counts(const struct input *s, uint32_t stack)
{
	uint32_t slot = s->slot_of_stack[stack];

	return slot ? s->counts + (size_t)(slot - 1) * s->n_columns : NULL;
}

/* The frames a stack's own location adds: first and number; none for the empty stack. */
static inline uint32_t input_frames(const struct input *s, uint32_t stack, uint32_t *n)
{
	uint32_t location = s->stacks[stack].location;

	*n = stack ? s->n_frames[location] : 0;
	return stack ? s->first_frame[location] : 0;
}

#endif
