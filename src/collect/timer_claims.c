/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_claims.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <unistd.h>

/* A process that knows itself by another pid, in a namespace of its own, looks as if it
 * were gone; it makes its ring ready in much less. */
#define GONE_NS UINT64_C(1000000000)

static void open_ready(struct timer_claim *c, uint32_t i, const struct timer_directory *d,
		       timer_claims_fn *fn, void *ctx)
{
	struct timer_ring *ring = NULL;
	int rc = timer_ring_open_claimed(d->control_fd, i, d->ring_bytes, &ring, NULL);

	if (rc == ERR_UNSUPPORTED) /* the target is at it */
		return;
	c->state = rc < 0 ? TIMER_CLAIM_DAMAGED : TIMER_CLAIM_OPEN;
	fn(ctx, ring);
}

static bool is_gone(struct timer_claim *c, uint64_t now_ns)
{
	if (kill((pid_t)c->pid, 0) == 0 || errno != ESRCH)
		c->gone_ns = 0;
	else if (!c->gone_ns)
		c->gone_ns = now_ns;
	return c->gone_ns && now_ns - c->gone_ns >= GONE_NS;
}

static void look_at(struct timer_claim *c, uint32_t i, uint64_t now_ns,
		    const struct timer_directory *d, timer_claims_fn *fn, void *ctx)
{
	if (c->state == TIMER_CLAIM_NEW)
		open_ready(c, i, d, fn, ctx);
	if (c->state == TIMER_CLAIM_OPEN || !is_gone(c, now_ns))
		return;
	timer_ring_reclaim(d->control_fd, i, d->ring_bytes);
	*c = (struct timer_claim){ 0 };
}

void timer_claims_look(struct timer_claims *c, struct timer_directory *d, uint64_t now_ns,
		       timer_claims_fn *fn, void *ctx)
{
	uint32_t pids[WIRE_SAMPLER_N_RINGS_MAX], n_claimed = 0;

	if (pread(d->control_fd, pids, sizeof(pids),
		  offsetof(struct wire_sampler_control, claims)) != sizeof(pids))
		return;
	for (uint32_t i = 0; i < d->n_rings; i++) {
		struct timer_claim *x = &c->at[i];

		if (x->state != TIMER_CLAIM_OPEN && x->pid != pids[i])
			*x = (struct timer_claim){ .pid = pids[i] };
		if (!pids[i])
			continue;
		n_claimed++;
		look_at(x, i, now_ns, d, fn, ctx);
	}
	if (n_claimed > d->n_rings / 2)
		timer_directory_add_rings(d);
}

void timer_claims_give_back(struct timer_claims *c, struct timer_ring *ring)
{
	uint32_t i = timer_ring_claim(ring);

	if (i >= WIRE_SAMPLER_N_RINGS_MAX)
		return;
	timer_ring_give_back(ring);
	c->at[i] = (struct timer_claim){ 0 };
}
