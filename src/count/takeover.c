/* SPDX-License-Identifier: Apache-2.0 */
#include "count/takeover.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "bare/sys.h"
#include "count/alias.h"
#include "count/code_change.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/engine.h"
#include "count/exec_range.h"
#include "count/fatal.h"
#include "count/follow.h"
#include "count/native.h"
#include "count/nest.h"
#include "count/place.h"
#include "count/release.h"
#include "count/relocate.h"
#include "count/reserve.h"
#include "count/signal_delivery.h"
#include "count/signals.h"
#include "count/translate.h"

static struct count_control *control;
static bool has_handlers; /* the kernel calls the engine for the program's */

extern const char __ehdr_start[], _end[];
extern const char crossing_call_check[], crossing_call_made[], crossing_call_not[];
extern const char crossing_in_checked[], crossing_in_end[];
extern const char crossing_join[], crossing_release[], crossing_finish[];
extern const char crossing_aside[], crossing_rest[], crossing_again[];

/* How long it is waited for the recorder: one that is there comes while the processor is
 * offered to it, unless others are as busy; then for a second at least.  By naps, as no
 * filter of calls need allow to ask for the time. */
#define N_OFFERS 256
#define N_NAPS	 1000
#define NAP_NS	 1000000

static void tell(enum count_control_state state)
{
	__atomic_store_n(&control->state, state, __ATOMIC_RELEASE);
}

/* Until the recorder leads the thread elsewhere; back if nobody does.  It looks at the
 * state when the thread stands: what was ready once may not be any more. */
static void wait_as(enum count_control_state state)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	tell(state);
	for (unsigned i = 0; i < N_OFFERS; i++)
		sys_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	for (unsigned i = 0; i < N_NAPS; i++)
		sys_call(SYS_nanosleep, &nap, 0, 0, 0, 0, 0);
	tell(COUNT_CONTROL_LEFT);
}

/* A thread as it was; the stack of its signals was never another. */
static _Noreturn void go_natively(const struct count_control_regs *native, uint64_t mask)
{
	struct signal_stack stack = { 0 };
	struct native_room room;

	sys_signal_mask(SIG_SETMASK, &(uint64_t){ ~0ULL }, NULL);
	sys_call(SYS_sigaltstack, 0, &stack, 0, 0, 0, 0);
	native_go(native, mask, &stack, &room);
}

/* The first. */
static _Noreturn void go_on_natively(void)
{
	const struct count_control_thread *t =
		(const struct count_control_thread *)control->threads;

	go_natively(&t->native, t->mask);
}

void takeover_undo(const struct count_control_regs *native, uint64_t mask)
{
	tell(COUNT_CONTROL_LEFT);
	go_natively(native, mask);
}

/* Before handlers are the engine's. */
static void fail(const char *text)
{
	size_t n = strlen(text);

	n = n < sizeof(control->why) ? n : sizeof(control->why) - 1;
	memcpy(control->why, text, n);
	control->why[n] = 0;
	wait_as(COUNT_CONTROL_FAILED);
	go_on_natively();
}

static void tell_places(struct count_control *k)
{
	reserve_tell(k);
	k->n_sharers = (uint64_t)&engine.n_sharers;
	k->are_away = (uint64_t)&engine.are_away;
	k->finisher = (uint64_t)&engine.finisher;
	k->n_confining = (uint64_t)&engine.n_confining;
	k->is_confined = (uint64_t)&engine.is_confined;
	k->code_start = (uint64_t)__ehdr_start;
	k->code_end = (uint64_t)_end;
	k->join = (uint64_t)crossing_join;
	k->release = (uint64_t)crossing_release;
	k->finish = (uint64_t)crossing_finish;
	k->aside = (uint64_t)crossing_aside;
	k->rest = (uint64_t)crossing_rest;
	k->again = (uint64_t)crossing_again;
	k->self_off = offsetof(struct context, self);
	k->leave_off = offsetof(struct context, leave);
	k->held_off = offsetof(struct context, is_held);
	k->stack_off = CONTEXT_COUNTERS;
	k->aside_off = CONTEXT_STACK;
	k->call_check = (uint64_t)crossing_call_check;
	k->call_made = (uint64_t)crossing_call_made;
	k->call_not = (uint64_t)crossing_call_not;
	k->in_checked = (uint64_t)crossing_in_checked;
	k->in_end = (uint64_t)crossing_in_end;
}

/* As stat() gives it. */
static uint64_t device(uint64_t major, uint64_t minor)
{
	return (minor & 0xff) | major << 8 | (minor & ~0xffULL) << 12;
}

static void add_alias(const struct count_control_range *r)
{
	alias_add(&(struct alias){
		.start = r->start,
		.end = r->end,
		.off = r->off,
		.device = device(r->device_major, r->device_minor),
		.inode = r->inode,
		.prot = PROT_READ | (r->is_exec ? PROT_EXEC : 0) |
			(r->is_writable ? PROT_WRITE : 0),
	});
}

static void add_code(const struct count_control_range *r)
{
	struct count_file_image image = { .start = r->start,
					  .size = r->end - r->start,
					  .off = r->off,
					  .inode = r->inode,
					  .device_major = r->device_major,
					  .device_minor = r->device_minor };

	const char *path = (const char *)r->path;
	uint32_t number = count_output_add_image(&image, path);

	exec_range_add((struct exec_range){
		.start = r->start,
		.end = r->end,
		.image = number,
		.is_exec = true,
		.is_writable = r->is_writable,
		.may_change = !path || r->is_shared,
	});
	if (path)
		nest_add_code(-1, path, &image, number);
}

/* Of those that can only be read nobody can say which may be written to later: they have
 * what room the others leave. */
static void add_aliases(const struct count_control *k, bool are_read_only)
{
	const struct count_control_range *r =
		(const struct count_control_range *)k->ranges;

	for (uint64_t i = 0; i < k->n_ranges; i++)
		if (r[i].is_shared && r[i].inode &&
		    are_read_only == !(r[i].is_exec || r[i].is_writable))
			add_alias(&r[i]);
}

static void add_ranges(const struct count_control *k)
{
	const struct count_control_range *r =
		(const struct count_control_range *)k->ranges;

	for (uint64_t i = 0; i < k->n_ranges; i++)
		if (r[i].is_exec && !exec_range_known(r[i].start))
			add_code(&r[i]);
	add_aliases(k, false);
	add_aliases(k, true);
}

static void add_thread(struct count_control_thread *t)
{
	struct context *c = context_take();

	memcpy(c->regs, t->native.regs, sizeof(c->regs));
	c->flags = t->native.flags;
	c->gs_base = t->native.gs_base;
	c->resume = t->native.ip;
	c->interrupted = t->call;
	signals_take_over(c);
	c->begin_mask = signal_mask_take(c, t->mask);
	t->context = (uint64_t)c;
	t->stack = c->engine_sp;
	count_output_add_extra(COUNT_EXTRA_ENTER, t->native.ip, 0, c->nest, 1);
}

static _Noreturn void take_threads(struct count_control *k)
{
	struct count_control_thread *threads = (struct count_control_thread *)k->threads;

	signals_ask();
	has_handlers = false;
	for (uint64_t i = k->n_threads; i-- > 0;)
		add_thread(&threads[i]);
	fatal_set_instead(NULL);
	wait_as(COUNT_CONTROL_READY);
	/* Nobody has come: all others go on natively, and so does the first. */
	go_on_natively();
}

void takeover_begin(struct count_control *k, const Elf64_Dyn *dynamic, uint64_t base)
{
	relocate(dynamic, base);
	control = k;
	tell_places(k);
	fatal_set_instead(fail);
	engine.is_attached = true;
	follow_init((const char *)k->prefix, "");
	nest_choose((const char *)k->flags);
	count_output_create((const char *)k->prefix, false);
	count_output_name((const char *)k->name);
	engine_init();
	add_ranges(k);
	take_threads(k);
}

/* What is none of reserve's. */
static bool keep_from_children(const struct count_control *k, bool are_kept)
{
	return reserve_keep_from_children((uint64_t)__ehdr_start,
					  (uint64_t)(_end - __ehdr_start), are_kept) &&
	       reserve_keep_from_children((uint64_t)k, k->bytes, are_kept);
}

void takeover_rest(struct count_control *k)
{
	bool rests;

	control = k;
	if (k->last)
		release_last((const struct context *)k->last);
	rests = engine_can_rest() && reserve_rest() && keep_from_children(k, true);
	wait_as(rests ? COUNT_CONTROL_RESTS : COUNT_CONTROL_FAILED);
	go_on_natively();
}

/* Of the program's code, since the engine rests. */

#define COMPARED_MAX 0x1000000u

static bool is_same(const struct exec_range *was, const struct count_control_range *r)
{
	const struct count_file_image *image = count_output_image(was->image);

	return r->start == was->start && r->end == was->end && r->is_exec &&
	       !r->is_writable && !r->is_shared && image && image->inode == r->inode &&
	       image->device_major == r->device_major &&
	       image->device_minor == r->device_minor &&
	       image->off + (r->start - image->start) == r->off;
}

/* Nobody is in the others' translations. */
static bool is_as_it_was(const struct exec_range *was)
{
	const struct count_control_range *r =
		(const struct count_control_range *)control->ranges;

	for (uint64_t i = 0; was->is_exec && !was->is_writable && i < control->n_ranges;
	     i++)
		if (is_same(was, &r[i]))
			return true;
	code_change_forget(was->start, was->end, true);
	return false;
}

static void look_at_code_again(struct count_control *k)
{
	if (exec_range_number() * k->n_ranges > COMPARED_MAX)
		fatal("too many pieces of executable memory to compare");
	exec_range_sift(is_as_it_was);
	if (!code_change_check_all())
		fatal("the program has changed its code");
	alias_clear();
	add_ranges(k);
}

void takeover_again(struct count_control *k)
{
	sys_signal_mask(SIG_SETMASK, &(uint64_t){ ~COUNT_CONTROL_FAULTS }, NULL);
	control = k;
	fatal_set_instead(fail);
	if (!keep_from_children(k, false) || !reserve_wake())
		fatal("the engine's memory is not there any more");
	tell_places(k);
	follow_init((const char *)k->prefix, "");
	engine_begin_again();
	look_at_code_again(k);
	take_threads(k);
}

/* What has come while all stood ends the call. */
static const void *behind_call(struct context *c)
{
	count_output_add_extra(COUNT_EXTRA_ENTER, c->resume, 0, c->nest, -1);
	c->resume += COUNT_CONTROL_CALL_BYTES;
	c->regs[0] = (uint64_t)-EINTR;
	count_output_add_extra(COUNT_EXTRA_ENTER, c->resume, 0, c->nest, 1);
	return translate(place_at(c->nest, c->resume));
}

/* The recorder was killed in between.  No thread is with the engine, and none will be. */
static _Noreturn void go_as_others(const struct context *c)
{
	const struct count_control_thread *t =
		(const struct count_control_thread *)control->threads;

	while (t->context != (uint64_t)c)
		t++;
	takeover_undo(&t->native, t->mask);
}

/* By the first that comes: no thread is native any more, whose signals would come to the
 * engine. */
static void take_handlers(const struct context *c)
{
	if (!has_handlers)
		signals_install(c);
	has_handlers = true;
}

/* A signal that comes between here and the call does not end it: so all else is done
 * before the first can come. */
const void *takeover_thread(struct context *c)
{
	const void *code;

	if (!__atomic_load_n(&control->are_led, __ATOMIC_ACQUIRE))
		go_as_others(c);
	c->tid = (uint32_t)sys_gettid();
	spin_lock(&engine.lock);
	take_handlers(c);
	code = translate(place_at(c->nest, c->resume));
	spin_unlock(&engine.lock);
	signals_join(c);
	if (!signal_ends_call(c, (enum count_control_call)c->interrupted))
		return code;
	spin_lock(&engine.lock);
	code = behind_call(c);
	spin_unlock(&engine.lock);
	return code;
}
