/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/profile_data.h"
#include "analyze/frame_path.h"
#include "analyze/stream.h"
#include "analyze/walk.h"
#include "base/mem.h"

/* A stack's weights spread over all columns of the profile. */
struct spread {
	uint64_t *weights, *counts;
	size_t n;
};

static void spread_set(struct spread *to, const struct input *s, uint32_t stack)
{
	const uint64_t *w = input_weights(s, stack), *c = input_counts(s, stack);

	for (size_t i = 0; i < to->n; i++) {
		size_t own_column = i - s->first_column;
		bool is_own = i >= s->first_column && own_column < s->n_columns;

		to->weights[i] = is_own ? w[own_column] : 0;
		to->counts[i] = is_own ? c[own_column] : 0;
	}
}

static int each_of_source(const struct profile *p, const struct input *s,
			  struct spread *spread, profile_stack_fn *fn, void *ctx,
			  struct err *e)
{
	own(frame_path_fini) struct frame_path path = { 0 };
	struct profile_stack stack = { .weights = spread->weights,
				       .counts = spread->counts };
	struct walk w = walk_over(s);
	int rc = 0;

	for (enum walk_step step; rc >= 0 && (step = walk_next(&w)) != WALK_END;) {
		if (step == WALK_LEAVE) {
			frame_path_leave(&path, s, w.stack);
			if (stack.n_same > path.frames.n)
				stack.n_same = path.frames.n;
			continue;
		}
		frame_path_enter(&path, p, s, w.stack);
		if (!input_weights(s, w.stack))
			continue;
		spread_set(spread, s, w.stack);
		stack.frames = path.frames.at;
		stack.n = path.frames.n;
		rc = fn(ctx, &stack, e);
		stack.n_same = stack.n;
	}
	return rc < 0 ? rc : 0;
}

int profile_each_stack(const struct profile *p, profile_stack_fn *fn, void *ctx,
		       struct err *e)
{
	own(freep) uint64_t *weights = xcalloc(p->columns.n + 1, sizeof(uint64_t));
	own(freep) uint64_t *counts = xcalloc(p->columns.n + 1, sizeof(uint64_t));
	struct spread spread = { weights, counts, p->columns.n };
	int rc = 0;

	for (size_t i = 0; i < p->n_sources && rc == 0; i++)
		rc = each_of_source(p, &p->sources[i], &spread, fn, ctx, e);
	return rc;
}

struct each_sample {
	const struct profile *profile;
	const struct input *source;
	struct frame_path path;
	uint32_t path_of; /* the stack the path was filled for */
	profile_sample_fn *fn;
	void *ctx;
};

static void each_sample_fini(struct each_sample *each)
{
	frame_path_fini(&each->path);
}

static int pass_on(struct each_sample *each, const struct sample_block *b, size_t i,
		   uint32_t column, struct err *e)
{
	const struct recording *r = each->source->recording;
	const struct model_thread *thread = recording_thread(r, b->thread[i]);

	if (each->path_of != b->stack[i]) {
		frame_path_fill(&each->path, each->profile, each->source, b->stack[i]);
		each->path_of = b->stack[i];
	}
	return each->fn(
		each->ctx,
		&(struct profile_sample){
			.column = each->source->first_column + column,
			.cpu = b->cpu[i],
			.count = b->count[i],
			.time_ns = b->time_ns[i],
			.weight = b->weight[i],
			.thread = thread,
			.process = thread ? recording_process(r, thread->process) : NULL,
			.frames = each->path.frames.at,
			.n_frames = each->path.frames.n,
		},
		e);
}

static int pass_block_on(void *ctx, const struct sample_block *b, const uint8_t *keep,
			 struct err *e)
{
	struct each_sample *each = ctx;
	int rc = 0;

	for (size_t i = 0; i < b->n && rc == 0; i++) {
		uint32_t column = each->source->column_of_event[b->event[i]];

		if (column != MODEL_NONE && (!keep || keep[i]))
			rc = pass_on(each, b, i, column, e);
	}
	return rc;
}

int profile_each_sample(const struct profile *p, profile_sample_fn *fn, void *ctx,
			struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < p->n_sources && rc == 0; i++) {
		/* A block that cannot be read was counted when the profile was
		 * loaded: count into a copy. */
		struct input s = p->sources[i];
		own(filter_binding_freep) struct filter_binding *filter =
			p->filter ? filter_bind(p->filter, p, &s) : NULL;
		own(each_sample_fini) struct each_sample each = {
			.profile = p, .source = &s, .fn = fn, .ctx = ctx
		};

		rc = stream_samples(&s, filter, SAMPLE_ALL, pass_block_on, &each, e);
	}
	return rc < 0 ? rc : 0;
}

uint64_t profile_sample_end_ns(const struct profile_sample *s)
{
	uint64_t end_ns = s->thread->end_ns ? s->thread->end_ns : s->process->end_ns;

	return end_ns && end_ns < s->time_ns ? end_ns : s->time_ns;
}
