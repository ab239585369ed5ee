/* SPDX-License-Identifier: Apache-2.0
 *
 * fpe_tracing - the floating-point exceptions of one program image, from the records of
 * its tracer to samples.
 *
 * The innermost frame of a stack is the instruction, so what a stack raised is what that
 * instruction raised there.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/vec.h"
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
	uint64_t n;
};

static void *begin(struct traced_image *image, const struct plan *plan)
{
	struct fpe_image *f = xcalloc(1, sizeof(*f));

	f->image = image;
	f->plan = plan;
	return f;
}

static struct fpe_sums *sums_of(struct fpe_image *f, uint64_t name)
{
	uint32_t i = traced_image_stack(f->image, name);

	while (f->sums.n <= i)
		*vec_push(&f->sums) = (struct fpe_sums){ 0 };
	return &f->sums.at[i];
}

static void take(void *state, const struct timer_record *r)
{
	struct fpe_image *f = state;

	if (r->kind == WIRE_TRACER_FPE_RAISED) {
		fpe_sums_add(sums_of(f, r->fpe.stack), r->fpe.types);
		f->n++;
	} else if (r->kind == WIRE_TRACER_FPE_AGAIN) {
		fpe_sums_take_back(sums_of(f, r->fpe_again.stack), r->fpe_again.was);
		fpe_sums_add(sums_of(f, r->fpe_again.stack), r->fpe_again.is);
	}
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

static void end(void *state, uint64_t now_ns)
{
	struct fpe_image *f = state;

	for (uint32_t i = 0; f->plan && i < f->sums.n; i++)
		write_sums(f, now_ns, i);
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
				     .end = end };
