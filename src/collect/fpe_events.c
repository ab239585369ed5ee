/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/fpe_events.h"

#include <string.h>

static void give_first(struct fpe_events *e, size_t n, fpe_events_fn *give, void *ctx)
{
	for (size_t i = 0; i < n; i++)
		if (e->waiting.at[i].types)
			give(ctx, &e->waiting.at[i]);
	e->waiting.n -= n;
	if (e->waiting.n)
		memmove(e->waiting.at, e->waiting.at + n,
			e->waiting.n * sizeof(*e->waiting.at));
}

void fpe_events_add(struct fpe_events *e, const struct fpe_event *event,
		    fpe_events_fn *give, void *ctx)
{
	*vec_push(&e->waiting) = *event;
	if (e->waiting.n == 2 * FPE_EVENTS_WAITING)
		give_first(e, FPE_EVENTS_WAITING, give, ctx);
}

void fpe_events_correct(struct fpe_events *e, uint32_t stack, uint32_t was, uint32_t is)
{
	for (size_t i = e->waiting.n; i-- > 0;) {
		struct fpe_event *x = &e->waiting.at[i];

		if (x->stack == stack && x->types == was) {
			x->types = is;
			return;
		}
	}
}

void fpe_events_finish(struct fpe_events *e, fpe_events_fn *give, void *ctx)
{
	give_first(e, e->waiting.n, give, ctx);
	vec_fini(&e->waiting);
}
