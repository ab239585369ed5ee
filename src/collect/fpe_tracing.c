/* SPDX-License-Identifier: Apache-2.0
 *
 * fpe_tracing - the floating-point exceptions of one program image, from the records of
 * its tracer to samples.
 *
 * The innermost frame of a stack is the instruction, so what a stack raised is what that
 * instruction raised there.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "collect/fpe_events.h"
#include "collect/fpe_sums.h"
#include "collect/traced_image.h"

extern const struct tracing fpe_tracing;

#if defined(__x86_64__)
#define WHY_NOT NULL
#else
#define WHY_NOT "on this CPU floating-point exceptions need not trap, and mostly cannot"
#endif

struct fpe_image {
	struct traced_image *image;
	const struct plan *plan;   /* NULL: not followed */
	VEC(struct fpe_sums) sums; /* by index of the image's stack */
	struct fpe_events events;  /* where the plan is to trace */
	uint32_t trace_type;	   /* id of these plus 1; 0: not yet */
	uint64_t n;
};

static void *begin(struct traced_image *image, const struct plan *plan)
{
	struct fpe_image *f = xcalloc(1, sizeof(*f));

	f->image = image;
	f->plan = plan;
	return f;
}

static struct fpe_sums *sums_of(struct fpe_image *f, uint32_t i)
{
	while (f->sums.n <= i)
		*vec_push(&f->sums) = (struct fpe_sums){ 0 };
	return &f->sums.at[i];
}

/* Single events. */

static uint32_t trace_type(struct fpe_image *f, struct writer *w)
{
	struct model_trace_type type = { .event = f->plan->events[EXPERIMENT_FPE_ALL],
					 .n_columns = 1 };

	type.columns[0].name = writer_string(w, "types");
	type.columns[0].type = COLUMN_STRING;
	if (!f->trace_type)
		f->trace_type = writer_trace_type(w, &type) + 1;
	return f->trace_type - 1;
}

/* As they are asked for: "invalid+divide-by-zero". */
static uint32_t types_text(const struct fpe_image *f, struct writer *w, uint32_t types)
{
	const struct experiment_event *columns = f->plan->choice.experiment->events;
	struct buf text = { 0 };
	uint32_t string;

	for (unsigned i = 0; i < FPE_SUMS_TYPES; i++)
		if (types >> i & 1)
			buf_printf(&text, "%s%s", text.size ? "+" : "",
				   columns[EXPERIMENT_FPE_TYPES + i].name);
	string = writer_string(w, buf_str(&text));
	buf_fini(&text);
	return string;
}

static void write_event(void *ctx, const struct fpe_event *event)
{
	struct fpe_image *f = ctx;
	const struct traced_stack *at = &f->image->stacks.at[event->stack];
	struct writer *w = f->image->image->totals->writer;

	writer_trace(
		w, &(struct model_trace){ .time_ns = event->time_ns,
					  .trace_type = trace_type(f, w),
					  .thread = at->thread,
					  .cpu = UINT32_MAX,
					  .stack = at->stack,
					  .values = { types_text(f, w, event->types) } });
}

static bool is_tracing(const struct fpe_image *f)
{
	return f->plan && f->plan->trace;
}

/* Records. */

static void take_raised(struct fpe_image *f, const struct wire_tracer_fpe *r)
{
	uint32_t stack = traced_image_stack(f->image, r->stack);

	fpe_sums_add(sums_of(f, stack), r->types);
	f->n++;
	if (is_tracing(f))
		fpe_events_add(&f->events,
			       &(struct fpe_event){ r->time_ns, stack, r->types },
			       write_event, f);
}

static void take_again(struct fpe_image *f, const struct wire_tracer_fpe_again *r)
{
	uint32_t stack = traced_image_stack(f->image, r->stack);

	fpe_sums_take_back(sums_of(f, stack), r->was);
	fpe_sums_add(sums_of(f, stack), r->is);
	fpe_events_correct(&f->events, stack, r->was, r->is);
}

static void take(void *state, const struct timer_record *r)
{
	if (r->kind == WIRE_TRACER_FPE_RAISED)
		take_raised(state, &r->fpe);
	else if (r->kind == WIRE_TRACER_FPE_AGAIN)
		take_again(state, &r->fpe_again);
}

static void write_sums(const struct fpe_image *f, uint64_t now_ns, uint32_t i)
{
	const struct traced_stack *at = &f->image->stacks.at[i];
	struct model_sample sample = { .time_ns = now_ns,
				       .thread = at->thread,
				       .cpu = UINT32_MAX,
				       .stack = at->stack,
				       .count = 1 };

	for (unsigned k = 0; k < FPE_SUMS_EVENTS; k++) {
		sample.event = f->plan->events[k];
		sample.weight = f->sums.at[i].of[k];
		if (sample.weight)
			writer_sample(f->image->image->totals->writer, &sample);
	}
}

static bool interim(void *state, uint64_t now_ns)
{
	const struct fpe_image *f = state;

	for (uint32_t i = 0; f->plan && i < f->sums.n; i++)
		write_sums(f, now_ns, i);
	return f->plan && f->sums.n;
}

static void end(void *state, uint64_t now_ns)
{
	struct fpe_image *f = state;

	fpe_events_finish(&f->events, write_event, f);
	interim(f, now_ns);
	f->image->image->totals->n_events += f->n;
	vec_fini(&f->sums);
	free(f);
}

const struct tracing fpe_tracing = { .trigger = EXPERIMENT_FPE,
				     .trace = WIRE_TRACER_FPE,
				     .first_kind = WIRE_TRACER_FPE_RAISED,
				     .last_kind = WIRE_TRACER_FPE_LAST,
				     .why_not = WHY_NOT,
				     .begin = begin,
				     .take = take,
				     .interim = interim,
				     .end = end };
