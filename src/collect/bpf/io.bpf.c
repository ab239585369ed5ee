/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * io - the system calls that read and write, by stack and file.
 *
 * A thread that is in such a call is THREAD_BLOCKED since then, and its sum is that of
 * the call; where the call's file is known when it returns only, of no file, and its
 * state says so.  What it began is that call.  Any other only says that the thread is in
 * none before the recording.
 */
#include "collect/bpf/asked.bpf.h"
#include "collect/bpf/calls.bpf.h"
#include "collect/bpf/each.bpf.h"
#include "collect/bpf/files.bpf.h"
#include "collect/bpf/foreseen.bpf.h"
#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/mapped.bpf.h"
#include "collect/bpf/outcome.bpf.h"
#include "collect/bpf/requests.bpf.h"
#include "collect/bpf/results.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "collect/bpf/thread.bpf.h"
#include "collect/bpf/unopened.bpf.h"

/* Set before loading: what each call is, as 64-bit programs number them, and as 32-bit
 * ones do. */
const volatile struct io_record_call io_calls[2][IO_RECORD_CALLS_MAX] = { 0 };

/* Set before loading: threads may be in a call since before the recording. */
const volatile bool has_earlier = false;
/* The collector's: nothing is summed behind it; nor is the recording, it was no pause. */
bool is_last_cut = false, is_end = false;
/* Set before loading: threads are told apart, so that a call is one of theirs. */
const volatile bool tells_unfinished = false;

/* The state of a thread. */
enum { KNOWS_FILE, AWAITS_FILE };

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* What the thread is called into the kernel for; one whose index is 0: no I/O. */
static __always_inline struct io_record_call call_of(const struct task_struct *task,
						     int64_t number, bool *is_32bit)
{
	uint32_t n = (uint32_t)number & ~CALLS_X32_BIT;

	*is_32bit = registers_call_is_32bit(task);
	if (n >= IO_RECORD_CALLS_MAX)
		return (struct io_record_call){ 0 };
	return io_calls[*is_32bit][n];
}

static __always_inline uint32_t sum_of(const struct thread *t, struct io_record_call call,
				       uint32_t file, bool has_stacks)
{
	uint32_t label = IO_RECORD_LABEL(call.index, file);

	return has_stacks ? outcome_sum(call.event, label)
			  : outcome_known(t, call.event, label);
}

/* That of a descriptor; first: the call's first argument. */
static __always_inline uint32_t file_asked(const struct registers *r,
					   struct io_record_call call, uint64_t first,
					   bool is_32bit)
{
	if (call.file == IO_RECORD_FIRST)
		return files_number((uint32_t)first);
	if (call.file == IO_RECORD_SECOND)
		return files_number((uint32_t)registers_argument(r, 1, is_32bit));
	return IO_RECORD_NO_FILE;
}

/* Programs at system calls come in two kinds each, of which one is loaded: code that is
 * not needed costs the verifier time, also where it finds that nobody comes there. */

/* (registers, number): what is done here is not in the call's time. */
static __always_inline int enter(const uint64_t *ctx, bool has_stacks)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_get(task);
	const struct registers *r = (const void *)ctx[0];
	struct io_record_call call;
	uint32_t file;
	bool is_32bit;

	if (!t)
		return 0;
	call = call_of(task, (int64_t)ctx[1], &is_32bit);
	if (!call.index) {
		t->where = THREAD_RUNS;
		return 0;
	}
	file = file_asked(r, call, registers_first_argument(r, is_32bit), is_32bit);
	t->sum = sum_of(t, call, file, has_stacks);
	t->state = call.file >= IO_RECORD_RETURNED ? AWAITS_FILE : KNOWS_FILE;
	thread_block(t, bpf_ktime_get_ns());
	return 0;
}

SEC("tp_btf/sys_enter")
int entered(uint64_t *ctx)
{
	return enter(ctx, true);
}

SEC("tp_btf/sys_enter")
int entered_flat(uint64_t *ctx)
{
	return enter(ctx, false);
}

/* The file is known now. */
static __always_inline uint32_t file_of(const struct registers *r,
					struct io_record_call call, int64_t result,
					bool is_32bit)
{
	bool is_opened = call.file >= IO_RECORD_OPENED_FIRST;

	if ((call.file == IO_RECORD_RETURNED || is_opened) && result >= 0)
		return files_number((uint32_t)result);
	if (call.file == IO_RECORD_OPENED_FIRST)
		return unopened_number(registers_first_argument_was(r, is_32bit));
	if (call.file == IO_RECORD_OPENED_SECOND)
		return unopened_number(registers_argument(r, 1, is_32bit));
	return file_asked(r, call, registers_first_argument_was(r, is_32bit), is_32bit);
}

/* The sum of the call that the thread returns from; is_earlier: it was in before the
 * recording. */
static __always_inline uint32_t returned_sum(const struct thread *t,
					     const struct registers *r,
					     struct io_record_call call, bool is_32bit,
					     int64_t result, bool is_earlier)
{
	uint32_t file;

	if (!is_earlier && t->state == KNOWS_FILE)
		return t->sum;
	file = file_of(r, call, result, is_32bit);
	return is_earlier ? sum_of(t, call, file, !has_no_stacks)
			  : outcome_as(t->sum, call.event,
				       IO_RECORD_LABEL(call.index, file));
}

/* From a call of I/O; may_be_earlier: that it was in before the recording. */
static __always_inline void returned(struct task_struct *task, const struct registers *r,
				     struct io_record_call call, bool is_32bit,
				     int64_t result, bool may_be_earlier)
{
	uint64_t now = bpf_ktime_get_ns(), ns;
	struct outcome o = { .event = call.event };
	struct thread *t = thread_get(task);
	uint32_t was, sum = 0;

	if (!t)
		return;
	was = t->where;
	t->where = THREAD_RUNS;
	if (was == THREAD_RUNS || was == THREAD_WAITS) /* refused before it began */
		return;
	if (was != THREAD_BLOCKED)
		t->began_ns = t->since_ns;
	ns = thread_lap(t, now);
	if (!from_ns)
		return;
	if (may_be_earlier || was == THREAD_BLOCKED)
		sum = returned_sum(t, r, call, is_32bit, result, was != THREAD_BLOCKED);
	o.ns = thread_observed(t->began_ns, now);
	outcome_result(&o, result);
	o.asked = asked_bytes(r, call.asks, is_32bit, &o.done);
	outcome_charge(sum, &o, ns, true);
	t->sum = sum;
	each_tell(&t->sum, o.ns, now);
}

/* (registers, result) */
static __always_inline int leave(const uint64_t *ctx, bool may_be_earlier)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct registers *r = (const void *)ctx[0];
	int64_t result = (int64_t)ctx[1];
	bool is_32bit;
	struct io_record_call call = call_of(task, registers_call(r), &is_32bit);

	if (call.index)
		returned(task, r, call, is_32bit, result, may_be_earlier);
	else if (mapped_is_code(r, result) && thread_get(task))
		mapped_meet((uint64_t)result);
	return 0;
}

SEC("tp_btf/sys_exit")
int left(uint64_t *ctx)
{
	return leave(ctx, false);
}

SEC("tp_btf/sys_exit")
int left_earlier(uint64_t *ctx)
{
	return leave(ctx, true);
}

/* It will not be seen to return: how long it has taken is told once, before the sum. */
static __always_inline void tell_unfinished(uint32_t sum, uint64_t ns, bool is_old)
{
	uint32_t slot = io_record_more_slot(sum);
	struct io_record_more *more = bpf_map_lookup_elem(&io_more, &slot);

	if (!more || !tells_unfinished || !sums_is_good(sum) || !from_ns || !ns)
		return;
	if (is_old)
		__sync_fetch_and_add(&more->n_begun_before, 1);
	__sync_fetch_and_add(&more->n_unfinished, 1);
	__sync_fetch_and_add(&more->unfinished_ns, ns);
}

/* Up to now; is_last: it is not met again in this recording, or before a pause ends;
 * is_over: in none. */
static __always_inline void charge_unfinished(struct thread *t, bool is_last,
					      bool is_over)
{
	uint64_t now = bpf_ktime_get_ns(), ns = thread_observed(t->began_ns, now);

	if (is_over)
		tell_unfinished(t->sum, ns, false);
	sums_charge_part(t->sum, thread_lap(t, now), false);
	if (is_last && from_ns)
		each_tell(&t->sum, ns, now);
}

/* Has a signal come in between of the call that it returned from last, and no handler has
 * run since?  What ends a thread does so; some calls say so themselves. */
static __always_inline bool was_broken_off(struct task_struct *task)
{
	const struct registers *kept = registers_kept(task);
	int64_t result = REGISTERS_RESULT(kept);
	bool is_32bit;

	return (results_is_broken_off(result) || result == RESULTS_INTERRUPTED) &&
	       call_of(task, registers_call(kept), &is_32bit).index;
}

/* (task): it ends in a call, which does not return. */
SEC("tp_btf/sched_process_exit")
int ended(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct thread *t = thread_find(task);

	if (!t)
		return 0;
	if (t->where == THREAD_RUNS && t->sum && was_broken_off(task))
		tell_unfinished(t->sum, thread_observed(t->began_ns, bpf_ktime_get_ns()),
				false);
	if (t->where != THREAD_BLOCKED)
		return 0;
	t->where = THREAD_ENDED;
	if (t->sum)
		charge_unfinished(t, true, true);
	return 0;
}

/* Every thread that exists when the recording begins. */
SEC("iter/task")
int begin(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && thread_is_told(task) && !thread_find(task))
		thread_add(task);
	return 0;
}

/* Of another thread: nothing is used that is kept per CPU, as this may be preempted. */
static __always_inline uint32_t file_of_other(struct task_struct *task, uint32_t fd)
{
	struct file *file = files_open(task, fd);
	struct files_key key = { 0 };
	uint32_t *known;

	if (!file)
		return IO_RECORD_NO_FILE;
	files_key(file, &key);
	known = bpf_map_lookup_elem(&file_numbers, &key);
	return known ? *known : files_add(file, &key, FILES_PREEMPTED);
}

/* It is in a call since before the recording.  The stack is in another thread's memory:
 * it is known if that returns, and charged with the rest then. */
static __always_inline void charge_earlier(struct scratch *s, struct task_struct *task,
					   struct thread *t)
{
	const struct registers *r = registers_kept(task);
	uint32_t file = IO_RECORD_NO_FILE, sum;
	struct io_record_call call;
	bool is_32bit;
	uint64_t ns;

	if (!kernel_task(task)->mm || task->on_cpu || registers_call(r) < 0)
		return;
	call = call_of(task, registers_call(r), &is_32bit);
	if (!call.index)
		return;
	if (call.file == IO_RECORD_FIRST)
		file = file_of_other(task,
				     (uint32_t)registers_first_argument_was(r, is_32bit));
	else if (call.file == IO_RECORD_SECOND)
		file = file_of_other(task, (uint32_t)registers_argument(r, 1, is_32bit));
	sum = calls_walk(s, task, t, NULL, call.event, IO_RECORD_LABEL(call.index, file));
	ns = thread_lap(t, bpf_ktime_get_ns());
	if (is_end)
		tell_unfinished(sum, ns, true);
	sums_charge_part(sum, ns, false);
}

/* What is under way is charged up to now, and has not returned: while its file is not
 * known, in the end.  Its number is of this generation from now on.  Behind the last
 * thread the requests. */
SEC("iter/task")
int cut(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct scratch *s = scratch_of(SCRATCH_CUT);
	struct thread *t;

	if (!s)
		return 0;
	if (!task)
		return requests_cut(s, is_last_cut);
	t = thread_find(task);
	if (!t)
		return 0;
	thread_name(task, t);
	sums_renew(s, &t->sum);
	if (t->where == THREAD_BLOCKED && (t->state == KNOWS_FILE || is_last_cut))
		charge_unfinished(t, is_last_cut, is_end);
	else if (has_earlier && is_last_cut && t->where == THREAD_UNKNOWN)
		charge_earlier(s, task, t);
	return 0;
}
