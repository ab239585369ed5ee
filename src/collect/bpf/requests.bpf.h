/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * requests - what is handed over in an io_uring: from where it is submitted until it is
 * completed, wherever that is.
 *
 * A request is the kernel's struct of it.  Its sum is of the stack in which it was
 * submitted.  One that completes several times (multishot) tells the ring and the
 * program's word of it in between, and not itself, as does a completion that has no room
 * in the ring.
 */
#ifndef DWELL_COLLECT_BPF_REQUESTS_BPF_H
#define DWELL_COLLECT_BPF_REQUESTS_BPF_H

#include "collect/bpf/each.bpf.h"
#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/kernel_requests.bpf.h"
#include "collect/bpf/outcome.bpf.h"
#include "collect/bpf/request.bpf.h"
#include "collect/bpf/requests_kept.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/thread.bpf.h"
#include "wire/io_record.h"

#define REQUESTS_SILENT_NS 60000000000ull /* it has succeeded long since */

/* Flags of requests, and of operations, as programs give them. */
#define REQUESTS_SILENT (1u << 6) /* it tells only that it has failed */
#define REQUESTS_SHOTS	2u	  /* of what receives: more than once */
#define REQUESTS_MORE	2u	  /* of a completion: it is not the last */
#define REQUESTS_NOTICE 8u	  /* it is none, but tells that memory is free again */

/* Set before loading: what each operation is; does its completion come as what the ring
 * shows of it. */
const volatile struct io_record_request io_requests[IO_RECORD_REQUESTS_MAX] = { 0 };
const volatile bool has_told_completion = false;

/* Those that may complete several times. */
static __always_inline bool requests_has_shots(struct io_kiocb *req, uint32_t shots)
{
	return shots == IO_RECORD_REQUEST_SHOTS ||
	       (shots == IO_RECORD_REQUEST_SHOTS_ASKED &&
		REQUEST_READ(req, io_sr_msg, flags) & REQUESTS_SHOTS);
}

/* Of a tracepoint, as numbers of which the verifier knows nothing; behind the last one is
 * whatever is there. */
struct requests_arguments {
	uint64_t at[4];
};

static __always_inline struct requests_arguments requests_arguments(const uint64_t *ctx)
{
	struct requests_arguments a = { 0 };

	bpf_probe_read_kernel(&a, sizeof(a), ctx);
	return a;
}

/* (request): what is done here is not in its time. */
SEC("tp_btf/io_uring_submit_req")
int submitted(uint64_t *ctx)
{
	uint64_t at = requests_arguments(ctx).at[0];
	struct io_kiocb *req = (void *)at;
	uint32_t operation = KERNEL_READ(struct io_kiocb, req, opcode);
	struct io_record_request call;
	struct request r = { 0 };

	if (requests_have_silent || requests_have_guesses)
		requests_replace(at);
	if (!from_ns || operation >= IO_RECORD_REQUESTS_MAX ||
	    !thread_get(bpf_get_current_task_btf()))
		return 0;
	call = io_requests[operation];
	if (!call.index)
		return 0;
	r.sum = outcome_inside(call.event,
			       IO_RECORD_LABEL(call.index, request_file(at, call.file)));
	r.asked = request_asked(at, call.asks);
	r.event = call.event;
	r.is_silent = KERNEL_READ(struct io_kiocb, req, flags) & REQUESTS_SILENT;
	r.has_shots = requests_has_shots(req, call.shots);
	r.name.ring = (uint64_t)KERNEL_READ(struct io_kiocb, req, ctx);
	r.name.word = KERNEL_READ(struct io_kiocb, req, cqe.user_data);
	if (r.is_silent) {
		requests_have_silent = true;
		sums_charge_part(r.sum, 0, true);
	}
	r.began_ns = r.since_ns = bpf_ktime_get_ns();
	requests_keep(at, &r);
	return 0;
}

/* What came of one until then, whose time of ns is not charged yet.  Not static: verified
 * by itself, once. */
__noinline int requests_charge(const struct request *r, uint64_t end_ns, uint64_t ns,
			       int32_t result)
{
	struct outcome o;

	if (!r || !from_ns)
		return 0;
	o.event = r->event;
	o.ns = thread_observed(r->began_ns, end_ns);
	outcome_result(&o, result);
	o.asked = r->asked > o.done ? r->asked : o.done;
	if (o.event == IO_RECORD_OTHER)
		o.asked = 0;
	outcome_charge(r->sum, &o, ns, !r->is_silent);
	each_tell(&r->sum, o.ns, end_ns);
	return 0;
}

/* It goes on. */
static __always_inline void requests_charge_shot(uint64_t at, int32_t result)
{
	struct request *r = bpf_map_lookup_elem(&requests, &at);
	uint64_t end = bpf_ktime_get_ns(), ns;

	if (!r)
		return;
	ns = requests_lap(r, end);
	end = requests_charged_until(r, end);
	requests_charge(r, end, ns, result);
	r->began_ns = end;
}

static __always_inline void requests_charge_over(const struct requests_over *over,
						 int32_t result)
{
	requests_charge(&over->request, over->request.since_ns, over->ns, result);
}

/* (ring, request or NULL, what the ring shows); before Linux 6.14 (…, …, word, result).
 */
SEC("tp_btf/io_uring_complete")
int completed(uint64_t *ctx)
{
	struct requests_arguments a = requests_arguments(ctx);
	struct requests_search s = { .name = { .ring = a.at[0], .word = a.at[2] } };
	uint64_t at = a.at[1];
	int32_t result = (int32_t)a.at[3];

	if (has_told_completion) {
		const struct io_uring_cqe *told = (const void *)a.at[2];

		s.name.word = BPF_CORE_READ(told, user_data);
		result = BPF_CORE_READ(told, res);
	}
	if (!at)
		requests_charge_shot(requests_of_shot(&s.name), result);
	else if (requests_take_at(at, &s.found) || requests_take_instead(&s))
		requests_charge_over(&s.found, result);
	return 0;
}

/* (ring, word, result, flags): it had no room in the ring, and waits.  That is rare. */
SEC("tp_btf/io_uring_cqe_overflow")
int overflowed(uint64_t *ctx)
{
	struct requests_arguments a = requests_arguments(ctx);
	struct requests_search s = { .name = { .ring = a.at[0], .word = a.at[1] } };
	uint64_t at = requests_of_shot(&s.name);
	int32_t result = (int32_t)a.at[2];

	if (a.at[3] & REQUESTS_NOTICE)
		return 0;
	if (at && a.at[3] & REQUESTS_MORE)
		requests_charge_shot(at, result);
	else if ((at && requests_take_at(at, &s.found)) || requests_take_any(&s))
		requests_charge_over(&s.found, result);
	return 0;
}

struct requests_cutting {
	struct scratch *s;
	uint64_t now;
	bool is_last;
};

/* So far, as it is not met again. */
static __always_inline void requests_tell_unfinished(struct request *r, uint64_t now)
{
	uint64_t end = requests_charged_until(r, now);

	if (!from_ns)
		return;
	each_tell(&r->sum, thread_observed(r->began_ns, end), end);
	r->began_ns = end;
}

/* Up to now, unless it is over. */
static __always_inline void requests_charge_unfinished(struct request *r,
						       const struct requests_cutting *c)
{
	sums_charge_part(r->sum, requests_lap(r, c->now), false);
	if (c->is_last && r->since_ns != REQUESTS_TAKEN)
		requests_tell_unfinished(r, c->now);
}

static long requests_cut_one(void *map __attribute__((unused)), const uint64_t *at,
			     struct request *r, struct requests_cutting *c)
{
	struct requests_over over;

	sums_renew(c->s, &r->sum);
	if (!r->is_silent)
		requests_charge_unfinished(r, c);
	else if (c->now > r->began_ns + REQUESTS_SILENT_NS)
		requests_take(*at, r, &over); /* also where the ring is gone */
	return 0;
}

/* What is under way is charged up to now; is_last: it is not met again. */
static __always_inline int requests_cut(struct scratch *s, bool is_last)
{
	struct requests_cutting c = { .s = s,
				      .now = bpf_ktime_get_ns(),
				      .is_last = is_last };

	bpf_for_each_map_elem(&requests, requests_cut_one, &c, 0);
	return 0;
}

#endif
