/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/prevalence.h"

#include <stdlib.h>

#include "analyze/profile_data.h"
#include "analyze/stream.h"
#include "base/map.h"
#include "base/mem.h"

struct pass {
	const struct profile *p;
	struct input *source;
	uint32_t event;	    /* of the source's events */
	struct map weights; /* function << 32 | string of the command */
};

/* The innermost function of a stack; MODEL_NONE: it has none. */
static uint32_t leaf_of(const struct pass *a, uint32_t stack)
{
	uint32_t n, first = input_frames(a->source, stack, &n);

	return n ? a->p->frames.at[first + n - 1].function : MODEL_NONE;
}

static uint32_t command_of(const struct pass *a, uint32_t thread)
{
	const struct recording *r = a->source->recording;
	const struct model_thread *t = recording_thread(r, thread);
	const struct model_process *p = t ? recording_process(r, t->process) : NULL;

	return p ? p->comm : 0;
}

static int add_block(void *ctx, const struct sample_block *b, const uint8_t *keep,
		     struct err *e unused)
{
	struct pass *a = ctx;

	for (size_t i = 0; i < b->n; i++) {
		uint32_t function;

		if (b->event[i] != a->event || (keep && !keep[i]))
			continue;
		function = leaf_of(a, b->stack[i]);
		if (function == MODEL_NONE)
			continue;
		*map_slot(&a->weights,
			  (uint64_t)function << 32 | command_of(a, b->thread[i]), NULL) +=
			b->weight[i];
	}
	return 0;
}

static void take_most(const struct pass *a, struct prevalence *ret)
{
	for (size_t i = 0; i < a->weights.cap; i++) {
		const struct map_entry *at = &a->weights.at[i];
		struct prevalence *to;
		const char *command;

		if (!at->used)
			continue;
		to = &ret[at->key >> 32];
		command = recording_string(a->source->recording, (uint32_t)at->key);
		to->n_others += to->command != NULL;
		if (at->value <= to->weight)
			continue;
		to->command = command;
		to->weight = at->value;
	}
}

int prevalence_find(const struct profile *p, size_t column, struct prevalence **ret,
		    struct err *e)
{
	const struct profile_column *c = profile_column(p, column);
	struct pass a = { .p = p, .source = &p->sources[c->source], .event = c->event };
	own(filter_binding_freep) struct filter_binding *filter = NULL;
	int rc;

	if (p->filter)
		filter = filter_bind(p->filter, p, a.source);
	rc = stream_samples(a.source, filter,
			    SAMPLE_EVENT | SAMPLE_STACK | SAMPLE_THREAD | SAMPLE_WEIGHT,
			    add_block, &a, e);
	if (rc == 0) {
		*ret = xcalloc(p->functions.n + 1, sizeof(**ret));
		take_most(&a, *ret);
	}
	map_fini(&a.weights);
	return rc;
}
