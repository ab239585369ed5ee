/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_detach.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/mem.h"
#include "collect/count_attach.h"
#include "collect/count_caller.h"
#include "collect/count_late.h"
#include "collect/count_remote.h"
#include "collect/count_restart.h"
#include "collect/count_seccomp.h"
#include "collect/count_tracee.h"
#include "host/clock.h"
#include "host/procfs.h"

#define PLAIN_FLAGS 0x202
#define LED_NS	    2000000 /* how long a thread may be on its way before it is looked at */
#define TRY_NS	    1000000000
#define TRIES	    20
#define REST_NS	    5000000000
#define BETWEEN_NS  50000000

#define LEAVE(member) offsetof(struct count_control_leave, member)

/* One that is being left. */
struct detach {
	struct count_attached *a;
	const struct count_control *told;
	struct count_tracees threads;
	uint64_t limit_ns;	       /* for which threads are waited for */
	const struct count_look *look; /* NULL: nobody does */
	struct err *why;	       /* a thread cannot be led */
};

static void detach_fini(struct detach *x)
{
	count_tracees_fini(&x->threads);
}

static uint64_t leave_at(const struct detach *x, const struct count_tracee *t)
{
	return t->context + x->told->leave_off;
}

static bool is_between(uint64_t addr, uint64_t start, uint64_t end)
{
	return addr >= start && addr < end;
}

/* Leading threads. */

static void ask_to_leave(const struct detach *x, struct count_tracee *t)
{
	uint64_t held, at = t->context + x->told->held_off;

	if (!count_remote_read(t->tid, at, &held, sizeof(held)))
		return;
	held |= COUNT_CONTROL_HELD_LEAVE;
	count_remote_write(t->tid, at, &held, sizeof(held));
}

static struct count_restart call_of(const struct user_regs_struct *r)
{
	return (struct count_restart){ (int64_t)r->rax, (int64_t)r->orig_rax, r->rip };
}

/* For the engine, which blocks them as the program has it when nobody comes. */
static void keep_mask(const struct detach *x, struct count_tracee *t)
{
	uint64_t yes = 1;

	if (t->has_mask || !count_tracee_get_mask(t, &t->mask))
		return;
	t->has_mask = true;
	count_remote_write(t->tid, leave_at(x, t) + LEAVE(mask), &t->mask,
			   sizeof(t->mask));
	count_remote_write(t->tid, leave_at(x, t) + LEAVE(has_mask), &yes, sizeof(yes));
}

/* On a way that ends where it has its signals again, also without us: so what comes from
 * now on waits until then. */
static void lead_to(struct count_tracee *t, const struct user_regs_struct *r)
{
	count_tracee_set(t, r);
	count_tracee_set_mask(t, ~0ULL);
}

/* In the engine's own code: it leaves on its way out.  A call of the program's that has
 * not been made, or would be made again, is not. */
static void lead_in_engine(const struct detach *x, struct count_tracee *t)
{
	const struct count_control *k = x->told;
	struct user_regs_struct r = t->regs;
	struct count_restart call = call_of(&r);

	ask_to_leave(x, t);
	if (r.rip == k->call_made && count_restart(&call)) {
		t->call = call;
		keep_mask(x, t);
		r.rax = call.result == COUNT_RESTART_REST ? COUNT_CONTROL_NOT_FINISHED
							  : COUNT_CONTROL_NOT_MADE;
		r.orig_rax = -1UL;
		lead_to(t, &r);
	} else if (is_between(r.rip, k->call_check, k->call_made)) {
		r.rip = k->call_not;
		count_tracee_set(t, &r);
	}
}

/* In translated code, or such of the program's as the engine has left alone. */
static void lead_in_program(const struct detach *x, struct count_tracee *t)
{
	struct user_regs_struct r = t->regs;
	struct count_control_regs native;
	struct count_restart call = call_of(&r);

	if (count_restart(&call)) {
		r.rax = (unsigned long)call.result;
		r.rip = call.ip;
	}
	count_remote_take(&r, &native);
	keep_mask(x, t);
	count_remote_write(t->tid, leave_at(x, t), &native, sizeof(native));
	r.rip = x->told->release;
	r.rdi = t->context;
	r.rsp = t->context + x->told->stack_off;
	r.eflags = PLAIN_FLAGS;
	r.orig_rax = -1UL;
	lead_to(t, &r);
}

/* The program may have a base of its own there, as long as the thread is native. */
static uint64_t context_of(const struct detach *x, const struct count_tracee *t)
{
	uint64_t self = 0, base = t->regs.gs_base;

	return base &&
			       count_remote_read(t->tid, base + x->told->self_off, &self,
						 sizeof(self)) &&
			       self == base
		       ? base
		       : 0;
}

/* Other filters have been looked at by the engine, and by us when it came: only root may
 * see them. */
static bool is_confined(const struct detach *x, const struct count_tracee *t)
{
	uint8_t is = 1;

	count_remote_read(t->tid, x->told->is_confined, &is, sizeof(is));
	return is;
}

static void lead(const struct detach *x, struct count_tracee *t)
{
	const struct count_control *k = x->told;

	if (!count_tracee_get(t, &t->regs))
		return;
	t->context = context_of(x, t);
	if (!t->context) { /* it has never been with the engine */
		t->is_away = true;
		return;
	}
	/* We came too late to take it out before: confine.h. */
	if (is_confined(x, t) && count_seccomp_check(t->tid, x->why) < 0)
		return;
	if (is_between(t->regs.rip, k->code_start, k->code_end) &&
	    !is_between(t->regs.rip, k->in_checked, k->in_end))
		lead_in_engine(x, t);
	else
		lead_in_program(x, t);
	t->led_ns = clock_monotonic_ns();
	count_tracee_go(t, 0);
}

/* It stands behind the call in which it waits for us. */
static void take(const struct detach *x, struct count_tracee *t)
{
	struct count_control_leave l;

	t->is_parking = false;
	if (!count_remote_read(t->tid, leave_at(x, t), &l, sizeof(l)) ||
	    !count_tracee_get(t, &t->regs))
		return;
	if (l.parked == COUNT_PARK_AWAY) {
		count_remote_put(&t->regs, &l.native);
		t->mask = l.mask;
		t->gs_base = l.native.gs_base;
		t->is_away = true;
		return;
	}
	l.parked = l.has_mask = 0;
	t->has_mask = false;
	count_remote_write(t->tid, leave_at(x, t), &l, sizeof(l));
	count_remote_put(&t->regs, &l.native);
	count_tracee_set_mask(t, l.mask);
	count_tracee_set(t, &t->regs);
	ask_to_leave(x, t);
	count_tracee_go(t, 0);
}

/* A thread that has just begun may have its parent's context still, and asks for its own;
 * whoever waits for a lock of the engine's makes the same call and is not parked. */
static bool is_parking(const struct detach *x, struct count_tracee *t)
{
	uint64_t parked = 0;

	if (!count_tracee_get(t, &t->regs) || t->regs.orig_rax != SYS_sched_yield)
		return false;
	t->context = context_of(x, t);
	return t->context &&
	       count_remote_read(t->tid, leave_at(x, t) + LEAVE(parked), &parked,
				 sizeof(parked)) &&
	       parked;
}

/* False: nothing has happened to it. */
static bool follow(const struct detach *x, struct count_tracee *t)
{
	int signal = 0;

	switch (count_tracee_poll(t, &signal)) {
	case COUNT_STOP_NONE:
		return false;
	case COUNT_STOP_ASKED:
		if (!count_tracee_has_fault(t)) {
			lead(x, t);
			break;
		}
		t->led_ns = clock_monotonic_ns();
		count_tracee_go(t, 0);
		break;
	case COUNT_STOP_SIGNAL:
		count_tracee_go(t, signal);
		break;
	case COUNT_STOP_ENTRY:
		t->is_parking = is_parking(x, t);
		count_tracee_go(t, 0);
		break;
	case COUNT_STOP_EXIT:
		if (t->is_parking)
			take(x, t);
		else
			count_tracee_go(t, 0);
		break;
	case COUNT_STOP_GONE:
		break;
	}
	return true;
}

/* False: there are none any more. */
static bool follow_all(const struct detach *x, struct count_tracees *all, bool *are_away,
		       bool *has_happened)
{
	uint64_t now_ns = clock_monotonic_ns();
	size_t n = 0;

	*are_away = true;
	*has_happened = false;
	vec_each(t, &all->at) {
		if (t->is_gone)
			continue;
		n++;
		if (t->is_away)
			continue;
		*has_happened |= follow(x, t);
		*are_away &= t->is_away || t->is_gone;
		if (!t->is_stopped && t->led_ns && now_ns > t->led_ns + LED_NS) {
			count_tracee_interrupt(t);
			t->led_ns = now_ns;
		}
	}
	return n;
}

/* Those that are known, to where the program has a state.  False: there are none any
 * more. */
static bool take_known(struct detach *x, uint64_t since_ns)
{
	bool are_away, has_happened;

	for (;;) {
		if (!follow_all(x, &x->threads, &are_away, &has_happened))
			return false;
		if (are_away || x->why->code)
			return true;
		if (clock_monotonic_ns() > since_ns + x->limit_ns)
			err_set(x->why, ERR_UNSUPPORTED,
				"a thread is in a call that does not end");
		else if (!has_happened)
			count_tracee_nap(since_ns);
	}
}

/* Some may have been begun meanwhile. */
static int take_all(struct detach *x, struct err *e)
{
	uint64_t since_ns = clock_monotonic_ns();
	size_t n_new;

	do {
		int rc = count_tracees_seize(&x->threads, &n_new, e);

		if (rc < 0)
			return rc;
		if (!take_known(x, since_ns))
			return 0;
		if (x->why->code)
			return err_set(e, ERR_UNSUPPORTED, "%s", x->why->text);
	} while (n_new && clock_monotonic_ns() <= since_ns + x->limit_ns);
	return n_new ? err_set(e, ERR_UNSUPPORTED, "it makes threads all of the time")
		     : 0;
}

/* Leaving. */

static struct count_tracee *one_of_engine(struct detach *x)
{
	vec_each(t, &x->threads.at)
		if (t->is_away && t->context && !t->is_gone)
			return t;
	return NULL;
}

/* The kernel makes its call again, or ends it if the program's handler comes first; it
 * looks only at those that it has stopped on their way out of the kernel. */
static void give_call(struct count_tracee *t)
{
	if (!t->call.kernels || !count_tracee_stop_again(t))
		return;
	t->regs.rax = (unsigned long)t->call.kernels;
	t->regs.orig_rax = (unsigned long)t->call.number;
	t->regs.rip += COUNT_CONTROL_CALL_BYTES;
}

static bool run_to_park(const struct detach *x, struct count_tracee *t, uint64_t entry,
			uint64_t stack_off)
{
	struct user_regs_struct r = t->regs;
	uint64_t none = 0, parked = leave_at(x, t) + LEAVE(parked);

	r.rip = entry;
	r.rdi = t->context;
	r.rsp = t->context + stack_off;
	r.eflags = PLAIN_FLAGS;
	count_remote_write(t->tid, parked, &none, sizeof(none));
	return count_remote_run(t, &r, parked);
}

static bool tell_finisher(const struct detach *x, const struct count_tracee *t,
			  uint64_t context)
{
	return count_remote_write(t->tid, x->told->finisher, &context, sizeof(context));
}

static bool finish(const struct detach *x, struct count_tracee *t)
{
	bool is_done = tell_finisher(x, t, t->context) &&
		       run_to_park(x, t, x->told->finish, x->told->stack_off);

	if (!is_done)
		tell_finisher(x, t, 0);
	return is_done;
}

/* Its signals' stack again, by the engine: should we be killed, it goes on there. */
static void give_stack(const struct detach *x, struct count_tracee *t)
{
	run_to_park(x, t, x->told->aside, x->told->aside_off);
}

size_t count_detach_pieces(const struct count_attached *a,
			   struct count_control_piece **ret)
{
	const struct count_control_piece own_pieces[] = {
		{ a->control, a->control_bytes },
		{ a->engine, a->engine_bytes },
	};
	struct count_control_piece *pieces;
	uint64_t n = 0;

	if (a->told.n_pieces)
		count_remote_read(a->pid, a->told.n_pieces, &n, sizeof(n));
	n = n < COUNT_CONTROL_PIECES_MAX ? n : COUNT_CONTROL_PIECES_MAX;
	pieces = *ret = xcalloc(n + 2, sizeof(*pieces));
	if (n && !count_remote_read(a->pid, a->told.pieces, pieces, n * sizeof(*pieces)))
		n = 0;
	for (size_t i = 0; i < 2; i++)
		if (own_pieces[i].addr)
			pieces[n++] = own_pieces[i];
	return n;
}

void count_detach_memory(const struct count_attached *a, struct count_tracee *t)
{
	own(freep) struct count_control_piece *pieces = NULL;
	size_t n = count_detach_pieces(a, &pieces);

	for (size_t i = 0; i < n; i++)
		count_remote_call(t, a->site, SYS_munmap, pieces[i].addr, pieces[i].bytes,
				  0, 0);
}

static void let_look(const struct detach *x)
{
	struct count_stand stand = { 0 };
	size_t n = 0;

	vec_each(t, &x->threads.at)
		if (!t->is_gone && !n++) {
			stand.tid = t->tid;
			count_remote_take(&t->regs, &stand.native);
		}
	if (x->look && n == 1)
		x->look->at(x->look->ctx, &stand, true);
}

/* The mask first: as long as it is in the engine's code, that sets it right. */
static void lead_out(struct count_tracee *t)
{
	give_call(t);
	t->regs.gs_base = t->gs_base;
	count_tracee_set_mask(t, t->mask);
	count_tracee_set(t, &t->regs);
}

/* Should we be killed from now on, those that are in the engine's code still leave it by
 * themselves: nothing of the process leads back there. */
static bool tell_away(const struct detach *x)
{
	uint64_t yes = 1;

	return count_remote_write(x->a->pid, x->told->are_away, &yes, sizeof(yes));
}

/* Should we be killed meanwhile, the engine knows how it goes on natively.  last: its
 * context, if it is to undo what is the process's before it rests, or 0. */
static bool tell_native(const struct detach *x, const struct count_tracee *t,
			uint64_t last)
{
	struct count_control_thread first = { .mask = t->mask };
	uint64_t state = 0, control = x->a->control;

	count_remote_take(&t->regs, &first.native);
	first.native.gs_base = t->gs_base;
	return count_remote_write(t->tid, control + sizeof(struct count_control), &first,
				  sizeof(first)) &&
	       count_remote_write(t->tid, control + offsetof(struct count_control, last),
				  &last, sizeof(last)) &&
	       count_remote_write(t->tid, control + offsetof(struct count_control, state),
				  &state, sizeof(state));
}

/* In one go, as when it began.  What became of it, 0: it has ended. */
static uint64_t rest(const struct detach *x, struct count_tracee *t, uint64_t limit_ns)
{
	struct count_attached *a = x->a;
	struct user_regs_struct r = t->regs;
	uint64_t state = 0, at = a->control + offsetof(struct count_control, state);

	r.rip = x->told->rest;
	r.rdi = a->control;
	r.rsp = a->control + a->control_bytes;
	r.eflags = PLAIN_FLAGS;
	count_remote_run_through(t, &r, at, limit_ns);
	count_remote_read(a->pid, at, &state, sizeof(state));
	a->rests = state == COUNT_CONTROL_RESTS;
	return state;
}

/* Where only root may see filters that are nothing to the engine, others could neither
 * come back to it nor take its memory away. */
static bool may_come_back(const struct count_tracee *t)
{
	return count_seccomp_check(t->tid, NULL) == 0;
}

/* None is left in the engine, and the last one where it rests, or has ended. */
static void leave_last(struct detach *x, struct count_tracee *one)
{
	if (!x->a->rests)
		count_detach_memory(x->a, one);
	lead_out(one);
}

static int has_ended(const struct count_tracee *t, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED,
		       "thread %d ended when it was to leave the engine", t->tid);
}

static bool is_alone(const struct detach *x)
{
	size_t n = 0;

	vec_each(t, &x->threads.at)
		n += !t->is_gone;
	return n == 1;
}

/* Each of the calls by which it undoes what is the process's would be two stops.  Nobody
 * else is there who might come back: it need not know the way. */
static int leave_at_once(struct detach *x, struct count_tracee *one, struct err *e)
{
	uint64_t state;

	let_look(x);
	if (!tell_native(x, one, one->context))
		return err_os(e, "cannot write to its memory");
	state = rest(x, one, UINT64_MAX);
	if (!state)
		return has_ended(one, e);
	if (state != COUNT_CONTROL_LEFT)
		leave_last(x, one);
	return 0;
}

static int leave(struct detach *x, struct err *e)
{
	struct count_tracee *one = one_of_engine(x);
	bool is_to_rest;

	if (!one)
		return err_set(e, ERR_UNSUPPORTED,
			       "none of its threads is where the engine can be left");
	if (x->look)
		x->look->stands(x->look->ctx, COUNT_MOMENT_AWAY);
	is_to_rest = x->a->is_to_rest && may_come_back(one);
	if (is_to_rest && is_alone(x))
		return leave_at_once(x, one, e);
	if (!finish(x, one))
		return has_ended(one, e);
	let_look(x);
	vec_each(t, &x->threads.at)
		if (!t->is_gone && t->context)
			give_stack(x, t);
	if (!tell_away(x))
		return err_os(e, "cannot write to its memory");
	vec_each(t, &x->threads.at)
		if (!t->is_gone && t->context && t != one)
			lead_out(t);
	/* All stand until nothing is left that a child could get. */
	if (!is_to_rest || !tell_native(x, one, 0) ||
	    rest(x, one, REST_NS) != COUNT_CONTROL_LEFT)
		leave_last(x, one);
	return 0;
}

/* What a program that it has executed since has not. */
bool count_detach_is_there(const struct count_attached *a)
{
	struct count_control k;

	return count_remote_read(a->pid, a->control, &k, sizeof(k)) &&
	       k.magic == COUNT_CONTROL_MAGIC && k.owner == a->told.owner;
}

bool count_detach_is_awaited(const struct count_attached *a)
{
	uint64_t n = 0;

	return count_detach_is_there(a) &&
	       count_remote_read(a->pid, a->told.n_confining, &n, sizeof(n)) && n;
}

/* By a thread that stands as before afterwards.  False: by none of its calls. */
static bool take_memory(const struct count_attached *a, struct count_tracee *t)
{
	if (!count_tracee_get(t, &t->regs) || !count_tracee_get_mask(t, &t->mask) ||
	    count_caller_check(t, NULL) < 0 ||
	    count_seccomp_check_unmap(t->tid, NULL) < 0)
		return false;
	count_tracee_set_mask(t, ~0ULL);
	count_detach_memory(a, t);
	count_tracee_stop_again(t);
	count_tracee_set(t, &t->regs);
	count_tracee_set_mask(t, t->mask);
	return true;
}

void count_detach_resting(const struct count_attached *a)
{
	own(count_tracees_fini) struct count_tracees threads = { .pid = a->pid };
	own(procfs_ids_fini) struct procfs_ids tids = { 0 };

	if (!count_detach_is_there(a) || procfs_tasks(a->pid, &tids, NULL) < 0)
		return;
	/* The first may have ended, wait for what does not end, or have forbidden itself
	 * what it takes.  If all have, memory is left that nobody can use. */
	vec_each(tid, &tids.ids) {
		if (count_tracees_stop_one(&threads, *tid, NULL) == 0 && threads.at.n &&
		    !threads.at.at[0].is_gone && count_detach_is_there(a) &&
		    take_memory(a, &threads.at.at[0]))
			return;
		count_tracees_let_go(&threads);
	}
}

static int try_to_leave(struct detach *x, struct err *e)
{
	uint64_t n_sharers = 0;
	int rc = take_all(x, e);

	if (!count_detach_is_there(x->a))
		return 0;
	count_remote_read(x->a->pid, x->told->n_sharers, &n_sharers, sizeof(n_sharers));
	if (rc == 0 && n_sharers)
		rc = err_set(e, ERR_UNSUPPORTED, "a child shares its memory");
	return rc == 0 ? leave(x, e) : rc;
}

static int detach(struct count_attached *a, const struct count_look *look,
		  uint64_t limit_ns, unsigned n_tries, struct err *e)
{
	struct err why;
	own(detach_fini) struct detach x = {
		.a = a,
		.told = &a->told,
		.limit_ns = limit_ns,
		.look = look,
		.why = &why,
		.threads = { .pid = a->pid, .limit_ns = limit_ns },
	};
	char where[64];
	int rc = 0;

	a->rests = false;
	for (unsigned i = 0; i < n_tries && !a->rests && count_detach_is_there(a); i++) {
		if (i)
			nanosleep(&(struct timespec){ .tv_nsec = BETWEEN_NS }, NULL);
		why = (struct err){ 0 };
		rc = try_to_leave(&x, e);
		count_tracees_let_go(&x.threads);
		if (rc != ERR_UNSUPPORTED)
			break;
	}
	snprintf(where, sizeof(where), "process %d goes on being counted", a->pid);
	return rc < 0 && count_detach_is_there(a) ? err_in(e, rc, where) : 0;
}

int count_detach(struct count_attached *a, const struct count_look *look, struct err *e)
{
	return detach(a, look, TRY_NS, TRIES, e);
}

int count_detach_try(struct count_attached *a, const struct count_look *look,
		     uint64_t limit_ns, struct err *e)
{
	uint64_t since_ns = clock_monotonic_ns();

	/* The last one may have been too short for it to stop. */
	count_late_let_go();
	while (count_late_find(a->pid) && clock_monotonic_ns() - since_ns < limit_ns)
		count_tracee_nap(since_ns);
	return detach(a, look, limit_ns, 1, e);
}
