/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/tracer_interim.h"

#include <time.h>

#include "host/clock.h"
#include "store/writer.h"

/* At most so often, and half a percent of a CPU. */
#define EVERY_NS	 UINT64_C(1000000000)
#define TIMES_THEIR_COST 200
/* Where they could not be written, as the disk is full. */
#define AFTER_FAILURE_NS (10 * EVERY_NS)

static uint64_t wait_ns(const struct tracer_interim *x)
{
	uint64_t wait = TIMES_THEIR_COST * x->cost_ns;

	return wait > EVERY_NS ? wait : EVERY_NS;
}

static bool tell_all(struct timer_images *images, uint64_t now_ns)
{
	bool has_any = false;

	vec_each(m, &images->all)
		has_any |= images->totals.tracing->interim(*m, now_ns);
	return has_any;
}

static int write_all(struct timer_images *images, uint64_t now_ns, uint64_t next_ns)
{
	struct writer *w = images->totals.writer;

	if (!writer_interim_begin(w))
		return 0;
	if (tell_all(images, now_ns))
		return writer_interim_end(w, now_ns, next_ns, NULL);
	writer_interim_drop(w);
	return 0;
}

void tracer_interim_look(struct tracer_interim *x, struct timer_images *images,
			 uint64_t now_ns)
{
	uint64_t spent_ns;

	if (!x->next_ns)
		x->next_ns = now_ns + EVERY_NS;
	if (now_ns < x->next_ns)
		return;
	spent_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	x->next_ns = now_ns + wait_ns(x);
	if (write_all(images, now_ns, x->next_ns) < 0)
		x->next_ns = now_ns + AFTER_FAILURE_NS;
	x->cost_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - spent_ns;
}
