/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_tails.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

/* Kept of a thread; on average there is one for each of its CPUs. */
#define TAILS_MAX  64
#define EXITED_MAX 256 /* kept for what they do after that */

struct thread_tails {
	VEC(struct perf_tail) tails; /* oldest first */
	uint64_t sampled;	     /* bit of each event with own samples */
	bool has_exited;
};

struct perf_tails {
	perf_tails_fn *fn;
	void *ctx;
	struct map threads;   /* tid → struct thread_tails * */
	VEC(uint32_t) exited; /* tids, oldest first; some are used again */
};

struct perf_tails *perf_tails_new(perf_tails_fn *fn, void *ctx)
{
	struct perf_tails *t = xcalloc(1, sizeof(*t));

	t->fn = fn;
	t->ctx = ctx;
	return t;
}

static void free_thread(struct thread_tails *th)
{
	vec_fini(&th->tails);
	free(th);
}

void perf_tails_free(struct perf_tails *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->threads.cap; i++)
		if (t->threads.at[i].used)
			free_thread((void *)(uintptr_t)t->threads.at[i].value);
	map_fini(&t->threads);
	vec_fini(&t->exited);
	free(t);
}

static struct thread_tails *find(const struct perf_tails *t, uint32_t tid)
{
	const uint64_t *p = map_find(&t->threads, tid);

	return p ? (struct thread_tails *)(uintptr_t)*p : NULL;
}

static struct thread_tails *ensure(struct perf_tails *t, uint32_t tid)
{
	bool is_new;
	uint64_t *slot = map_slot(&t->threads, tid, &is_new);

	if (is_new)
		*slot = (uintptr_t)xcalloc(1, sizeof(struct thread_tails));
	return (struct thread_tails *)(uintptr_t)*slot;
}

static uint64_t bit_of(uint32_t event)
{
	return UINT64_C(1) << (event & 63);
}

/* Did this own sample end the time that the tail stands for? */
static bool is_over(const struct perf_tail *tail, uint32_t event, uint32_t cpu)
{
	return tail->draft.sample.event == event &&
	       (tail->is_coarse || tail->draft.sample.cpu == cpu);
}

void perf_tails_own(struct perf_tails *t, uint32_t tid, uint32_t event, uint32_t cpu)
{
	struct thread_tails *th = ensure(t, tid);
	size_t n = 0;

	th->sampled |= bit_of(event);
	vec_each(tail, &th->tails)
		if (!is_over(tail, event, cpu))
			th->tails.at[n++] = *tail;
	th->tails.n = n;
}

bool perf_tails_is_unsampled(const struct perf_tails *t, uint32_t tid, uint32_t event)
{
	const struct thread_tails *th = find(t, tid);

	return !th || !(th->sampled & bit_of(event));
}

static bool settle(struct perf_tails *t, struct thread_tails *th)
{
	bool was_sampled = th->tails.n || th->sampled;

	vec_each(tail, &th->tails)
		t->fn(t->ctx, tail);
	vec_clear(&th->tails);
	return was_sampled;
}

void perf_tails_add(struct perf_tails *t, uint32_t tid, const struct perf_tail *tail)
{
	struct thread_tails *th = ensure(t, tid);

	*vec_push(&th->tails) = *tail;
	/* So many without an own sample: its clocks do not reach an interval, for the
	 * kernel exchanges the clocks of threads that follow each other on a CPU. */
	if (th->has_exited || th->tails.n >= TAILS_MAX)
		settle(t, th);
}

static void forget(struct perf_tails *t, uint32_t tid)
{
	struct thread_tails *th = find(t, tid);

	if (!th)
		return;
	settle(t, th);
	map_remove(&t->threads, tid);
	free_thread(th);
}

void perf_tails_fork(struct perf_tails *t, uint32_t tid)
{
	forget(t, tid);
}

void perf_tails_exec(struct perf_tails *t, uint32_t tid)
{
	const struct thread_tails *th = find(t, tid);

	if (th && th->has_exited)
		forget(t, tid);
}

static void forget_oldest(struct perf_tails *t)
{
	for (size_t i = 0; i < EXITED_MAX; i++) {
		const struct thread_tails *th = find(t, t->exited.at[i]);

		if (th && th->has_exited)
			forget(t, t->exited.at[i]);
	}
	t->exited.n -= EXITED_MAX;
	memmove(t->exited.at, t->exited.at + EXITED_MAX,
		t->exited.n * sizeof(*t->exited.at));
}

bool perf_tails_exit(struct perf_tails *t, uint32_t tid)
{
	struct thread_tails *th = ensure(t, tid);

	th->has_exited = true;
	if (t->exited.n >= 2 * EXITED_MAX)
		forget_oldest(t);
	*vec_push(&t->exited) = tid;
	return settle(t, th);
}

void perf_tails_finish(struct perf_tails *t)
{
	for (size_t i = 0; i < t->threads.cap; i++)
		if (t->threads.at[i].used)
			settle(t, (void *)(uintptr_t)t->threads.at[i].value);
}
