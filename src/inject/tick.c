/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/tick.h"

#include <string.h>

#include "inject/account.h"
#include "inject/adopt.h"
#include "inject/arch.h"
#include "inject/modules.h"
#include "inject/restart.h"
#include "inject/runtime.h"
#include "inject/sandbox.h"
#include "inject/vdso.h"

typedef void handler_fn(int signal, siginfo_t *info, void *context);

_Static_assert(SLOT_MAX <= (TICK_MARK_MASK ^ 0xffffffffu), "an index fits the mark");

static struct slot *slot_of(const siginfo_t *info)
{
	uint32_t value = (uint32_t)info->si_value.sival_int;

	if (info->si_code != SI_TIMER || (value & TICK_MARK_MASK) != TICK_MARK)
		return NULL;
	return slot_at(value & ~TICK_MARK_MASK);
}

/* The C library's own use of the signal.  Its handler may leave by unwinding the
 * thread, so it gets the signal mask that it would have without us. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
	handler_fn *next = (handler_fn *)runtime.chained.handler;
	uint64_t mask;

	if ((void *)next == (void *)SIG_DFL || (void *)next == (void *)SIG_IGN)
		return;
	memcpy(&mask, &((ucontext_t *)context)->uc_sigmask, sizeof(mask));
	mask |= runtime.chained.mask | UINT64_C(1) << (signal - 1);
	sys_signal_mask(SIG_SETMASK, &mask, NULL);
	next(signal, info, context);
}

static bool write_sample(struct slot *s, struct stack_delta_frames *f, uint32_t count,
			 uint64_t now, enum unwind_stop stop)
{
	uint32_t n_shared =
		s->has_previous ? stack_delta_shared(f, &s->frames[!s->current]) : 0;
	struct wire_sampler_sample r = {
		.time_ns = now,
		.tid = (uint32_t)s->tid,
		.cpu = vdso_cpu(),
		.count = count,
		.n_frames = (uint16_t)f->n,
		.n_shared = (uint16_t)n_shared,
		.stop = stop,
		.slot = s->index,
	};

	if (!modules_tell(&runtime.ring, f->pcs, f->n - n_shared))
		return false;
	return ring_write(&runtime.ring, WIRE_SAMPLER_SAMPLE, &r, sizeof(r), s->encoded,
			  stack_delta_encode(f, n_shared, s->encoded));
}

static void lose(struct slot *s, uint32_t count)
{
	s->has_previous = false;
	ring_count(&runtime.ring.header->n_dropped, count);
}

static void take(struct slot *s, const ucontext_t *uc, uint32_t count, uint64_t now)
{
	struct stack_delta_frames *f = &s->frames[s->current];
	enum unwind_stop stop = UNWIND_END;

	f->n = (uint32_t)unwind_local(s->cache, uc, s->stack_lo, s->stack_hi, f->pcs,
				      f->exact, WIRE_SAMPLER_DEPTH_MAX, &stop);
	stack_delta_drop(f, runtime.text_lo, runtime.text_hi);
	if (write_sample(s, f, count, now, stop)) {
		s->has_previous = true;
		s->current = !s->current;
	} else {
		lose(s, count);
	}
}

static void obey(struct slot *s)
{
	uint32_t *request = &runtime.ring.header->request;
	uint32_t asked = __atomic_load_n(request, __ATOMIC_RELAXED);

	if (asked & WIRE_SAMPLER_QUIT)
		runtime_disarm(s);
	else if (asked & WIRE_SAMPLER_SCAN &&
		 __atomic_exchange_n(request, 0, __ATOMIC_ACQUIRE) & WIRE_SAMPLER_SCAN)
		adopt_threads();
}

/* What the signal brought; handled on the slot's own stack. */
struct tick {
	struct slot *slot;
	const siginfo_t *info;
	ucontext_t *context;
};

static void handle(void *arg)
{
	const struct tick *t = arg;
	struct slot *s = t->slot;
	struct wire_sampler_ring *header = runtime.ring.header;

	if (!sandbox_is_on())
		restart_settle(t->context, runtime.signal);
	if (!s->is_armed || !runtime.is_on || runtime.meeting.control->is_stopped ||
	    !ring_is_ours(&runtime.ring))
		return;

	bool is_prepared = runtime_prepare();
	uint64_t now = vdso_now_ns();
	uint64_t signalled =
		1 + (uint64_t)(t->info->si_overrun > 0 ? t->info->si_overrun : 0);
	uint32_t count = (uint32_t)account_tick(s, signalled);

	if (runtime.meeting.control->is_paused)
		return;
	ring_count(&header->n_signals, 1);
	ring_count(&header->n_intervals, count);
	if (is_prepared)
		take(s, t->context, count, now);
	else
		lose(s, count);
	if (!sandbox_is_on() && __atomic_load_n(&header->request, __ATOMIC_RELAXED))
		obey(s);
	ring_count(&header->handler_ns, vdso_now_ns() - now);
}

/* An alternate signal stack may have room for the signal's frame and little else. */
void tick_handle(int signal, siginfo_t *info, void *context)
{
	struct tick t = { slot_of(info), info, context };

	if (t.slot)
		arch_call_on(t.slot->handler_stack, handle, &t);
	else
		pass_on(signal, info, context);
}
