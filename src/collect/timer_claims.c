/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_claims.h"

#include <errno.h>
#include <signal.h>
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

static bool has_gone(uint32_t pid)
{
	return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

static bool is_gone(struct timer_claim *c, uint64_t now_ns)
{
	if (!has_gone(c->pid))
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

static bool read_pids(const struct timer_directory *d,
		      uint32_t pids[WIRE_SAMPLER_N_RINGS_MAX])
{
	const ssize_t size = WIRE_SAMPLER_N_RINGS_MAX * sizeof(*pids);

	return pread(d->control_fd, pids, (size_t)size,
		     offsetof(struct wire_sampler_control, claims)) == size;
}

static void know_pid(struct timer_claim *c, uint32_t pid)
{
	if (c->state != TIMER_CLAIM_OPEN && c->pid != pid)
		*c = (struct timer_claim){ .pid = pid };
}

void timer_claims_look_for_gone(struct timer_claims *c, const struct timer_directory *d)
{
	uint32_t pids[WIRE_SAMPLER_N_RINGS_MAX];

	if (!read_pids(d, pids))
		return;
	for (uint32_t i = 0; i < d->n_rings; i++) {
		struct timer_claim *x = &c->at[i];

		know_pid(x, pids[i]);
		if (x->state == TIMER_CLAIM_NEW && x->pid)
			x->was_gone = has_gone(x->pid);
	}
}

void timer_claims_look(struct timer_claims *c, struct timer_directory *d, uint64_t now_ns,
		       timer_claims_fn *fn, void *ctx)
{
	uint32_t pids[WIRE_SAMPLER_N_RINGS_MAX], n_claimed = 0;

	if (!read_pids(d, pids))
		return;
	for (uint32_t i = 0; i < d->n_rings; i++) {
		struct timer_claim *x = &c->at[i];

		know_pid(x, pids[i]);
		if (!pids[i])
			continue;
		n_claimed++;
		look_at(x, i, now_ns, d, fn, ctx);
	}
	if (n_claimed > d->n_rings / 2)
		timer_directory_add_rings(d);
}

bool timer_claims_was_gone(const struct timer_claims *c, const struct timer_ring *ring)
{
	uint32_t i = timer_ring_claim(ring);

	return i < WIRE_SAMPLER_N_RINGS_MAX && c->at[i].was_gone;
}

void timer_claims_give_back(struct timer_claims *c, struct timer_ring *ring)
{
	uint32_t i = timer_ring_claim(ring);

	if (i >= WIRE_SAMPLER_N_RINGS_MAX)
		return;
	timer_ring_give_back(ring);
	c->at[i] = (struct timer_claim){ 0 };
}
