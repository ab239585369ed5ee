/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/input.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/block_graph.h"
#include "analyze/call_shares.h"
#include "base/mem.h"

void input_fini(struct input *s)
{
	if (!s->is_borrowed)
		recording_free(s->recording);
	free(s->column_of_event);
	free(s->slot_of_stack);
	free(s->values);
	free(s->first_frame);
	free(s->n_frames);
	free(s->order);
	free(s->interval_ends);
	free(s->ideal_factors);
	free(s->block_cycles);
	if (s->block_graph)
		block_graph_fini(s->block_graph);
	free(s->block_graph);
	call_shares_free(s->call_shares);
	*s = (struct input){ 0 };
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* Time 0 is where the first process began, else the first interval, else the first
 * sample: a recording says no more than that when it was attached to something older. */
static void learn_span(struct input *s)
{
	const struct recording *r = s->recording;
	uint64_t first_sample = 0;

	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		uint64_t from, to;
		size_t n;

		recording_sample_block_range(r, i, &from, &to, &n);
		if (!n)
			continue;
		first_sample = earlier(first_sample, from);
		if (to > s->end_ns)
			s->end_ns = to;
	}
	for (uint32_t i = 0; i < recording_n_processes(r); i++) {
		const struct model_process *p = recording_process(r, i);

		s->start_ns = earlier(s->start_ns, p->start_ns);
		if (p->end_ns > s->end_ns)
			s->end_ns = p->end_ns;
	}
	for (uint32_t i = 0; !s->start_ns && i < recording_n_intervals(r); i++)
		s->start_ns = recording_interval(r, i)->from_ns;
	if (!s->start_ns || (first_sample && first_sample < s->start_ns))
		s->start_ns = first_sample;
	if (s->end_ns < s->start_ns)
		s->end_ns = s->start_ns;
}

static void learn_interval_ends(struct input *s)
{
	uint32_t n = recording_n_intervals(s->recording);
	uint64_t latest = 0;

	s->interval_ends = xcalloc(n + 1, sizeof(*s->interval_ends));
	for (uint32_t i = 0; i < n; i++) {
		uint64_t end = recording_interval(s->recording, i)->to_ns;

		latest = end > latest ? end : latest;
		s->interval_ends[i] = latest;
	}
}

static void learn(struct input *s)
{
	s->stacks = recording_stacks(s->recording);
	s->locations = recording_locations(s->recording);
	s->n_stacks = recording_n_stacks(s->recording);
	s->n_locations = recording_n_locations(s->recording);
	s->slot_of_stack = xcalloc(s->n_stacks ? s->n_stacks : 1, sizeof(uint32_t));
	s->first_frame = xcalloc(s->n_locations ? s->n_locations : 1, sizeof(uint32_t));
	s->n_frames = xcalloc(s->n_locations ? s->n_locations : 1, sizeof(uint32_t));
	learn_span(s);
	learn_interval_ends(s);
}

int input_open(struct input *s, const char *path, struct err *e)
{
	int rc = recording_open(path, &s->recording, e);

	if (rc == 0)
		learn(s);
	return rc;
}

void input_borrow(struct input *s, struct recording *r, size_t first_block)
{
	*s = (struct input){ .recording = r,
			     .is_borrowed = true,
			     .first_block = first_block };
	learn(s);
}

uint32_t input_counted_event(const struct recording *r)
{
	for (uint32_t i = 0; i < recording_n_events(r); i++) {
		const struct model_event *ev = recording_event(r, i);

		if (ev->flags & EVENT_EXACT && ev->flags & EVENT_PC_ONLY)
			return i;
	}
	return MODEL_NONE;
}

int input_counted_column(const struct input *s, uint32_t *ret, struct err *e)
{
	uint32_t event = input_counted_event(s->recording);

	if (event == MODEL_NONE || s->column_of_event[event] == MODEL_NONE)
		return err_set(e, ERR_USAGE,
			       "counted instructions are not among what is "
			       "asked for");
	*ret = s->column_of_event[event];
	return 0;
}

int input_block_graph(struct input *s, const struct block_graph **ret, struct err *e)
{
	struct block_graph g;
	int rc;

	if (!s->block_graph) {
		rc = block_graph_make(&g, s->recording, NULL, e);
		if (rc < 0) {
			block_graph_fini(&g);
			return rc;
		}
		s->block_graph = xcalloc(1, sizeof(*s->block_graph));
		*s->block_graph = g;
	}
	*ret = s->block_graph;
	return 0;
}

uint32_t input_slot(struct input *s, uint32_t stack)
{
	if (s->slot_of_stack[stack])
		return s->slot_of_stack[stack] - 1;
	if (s->n_slots == s->cap_slots) {
		size_t cap = s->cap_slots ? s->cap_slots + s->cap_slots / 2 : 1024;

		s->values = xrealloc(s->values, cap, 2 * s->n_columns * sizeof(uint64_t));
		s->cap_slots = cap;
	}

	uint32_t slot = (uint32_t)s->n_slots++;

	memset(s->values + (size_t)slot * 2 * s->n_columns, 0,
	       2 * s->n_columns * sizeof(uint64_t));
	s->slot_of_stack[stack] = slot + 1;
	return slot;
}

/* A parent's id is smaller than its children's.  So one pass down from the last stack
 * counts what is below each, and one pass up gives each its place: a stack's entry is
 * its size until it has been placed, then where its next child goes.  Both passes touch
 * memory in an order known beforehand. */
void input_order(struct input *s)
{
	own(freep) uint32_t *at = xcalloc(s->n_stacks + 1, sizeof(*at));

	for (uint32_t i = s->n_stacks; i-- > 1;) {
		if (!s->slot_of_stack[i] && !at[i])
			continue;
		at[i]++;
		at[s->stacks[i].parent] += at[i];
	}
	s->n_ordered = s->n_stacks ? at[0] + 1 : 0;
	s->order = xcalloc(s->n_ordered + 1, sizeof(*s->order));
	at[0] = 1;
	for (uint32_t i = 1; i < s->n_stacks; i++) {
		uint32_t size = at[i], place = at[s->stacks[i].parent];

		if (!size)
			continue;
		at[s->stacks[i].parent] += size;
		at[i] = place + 1;
		s->order[place] = i;
	}
}

void input_mark_locations(const struct input *s, bool *is_used)
{
	for (size_t i = 1; i < s->n_ordered; i++)
		is_used[s->stacks[s->order[i]].location] = true;
}
