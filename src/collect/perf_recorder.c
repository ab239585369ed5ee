/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/recorder.h"

#include <stdlib.h>

#include "base/mem.h"
#include "collect/perf_files.h"
#include "collect/segment_maker.h"
#include "host/clock.h"

/* Each sample copies up to 62 KB of the stack, and is walked here: some 20 us.  No simple
 * ratio to the scheduler's ticks. */
#define DEFAULT_HZ 199

/* Sums are larger the more often they are written. */
#define DIRECTIONS_NS UINT64_C(60000000000)

extern const struct source_ops perf_source;

/* A tracker per recording: what it knows of processes and files goes with it, so that
 * nothing grows for ever, and who runs on is learnt from /proc when it is sampled next.
 */
struct perf {
	struct recorder base;
	struct recorder_settings settings;
	struct scope scope;
	struct source *source; /* NULL: not started */
	/* Of the recording; NULL: there is none. */
	struct tracker *tracker;
	struct writer *writer;
	const struct plan *plans;
	uint64_t fetched_ns;
	uint64_t directions_ns; /* when they were written last */
	size_t rings_bytes;
	struct recorder_status sums; /* of recordings that have ended */
};

static void perf_free(struct recorder *r)
{
	struct perf *p = (struct perf *)r;

	if (p->source)
		p->source->ops->free(p->source);
	tracker_free(p->tracker);
	free(p);
}

static int perf_open(const struct recorder_settings *x, struct recorder **ret,
		     unused struct err *e)
{
	struct perf *p = xcalloc(1, sizeof(*p));

	p->base.ops = &perf_recorder;
	p->settings = *x;
	p->scope = (struct scope){ .kind = SCOPE_CPUS, .may_pause = true };
	*ret = &p->base;
	return 0;
}

static bool wants_directions(const struct recorder_settings *x)
{
	for (size_t i = 0; i < x->n_plans; i++)
		if (x->plans[i].insn)
			return true;
	return false;
}

static void perf_begin(struct recorder *r, struct writer *w, const struct plan *plans)
{
	struct perf *p = (struct perf *)r;

	p->writer = w;
	p->plans = plans;
	p->tracker = tracker_new(w);
	if (p->settings.depth)
		tracker_limit_depth(p->tracker, p->settings.depth);
	tracker_keep_symbols(p->tracker, p->settings.symbols);
	if (wants_directions(&p->settings))
		tracker_want_directions(p->tracker);
	segment_maker_want_fold(w, &p->settings.apart);
	if (p->source)
		p->source->ops->turn(p->source, p->tracker, w);
}

static int perf_start(struct recorder *r, struct err *e)
{
	struct perf *p = (struct perf *)r;
	struct source_context c = { .scope = &p->scope,
				    .plans = p->plans,
				    .n_plans = p->settings.n_plans,
				    .tracker = p->tracker,
				    .writer = p->writer };
	size_t n_cpus = p->settings.cpus->ids.n;
	int rc = perf_source.open(&c, &p->source, e);

	p->rings_bytes = n_cpus * perf_files_ring_bytes(n_cpus, false);

	return rc < 0 ? rc : perf_source.start(p->source, 0, e);
}

/* Running. */

static size_t perf_fds(const struct recorder *r, struct pollfd *fds, size_t max)
{
	const struct perf *p = (const struct perf *)r;

	return p->source->ops->fds(p->source, fds, max);
}

static void fetch(struct perf *p, bool is_all)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (p->fetched_ns && now_ns - p->fetched_ns > p->sums.longest_gap_ns)
		p->sums.longest_gap_ns = now_ns - p->fetched_ns;
	/* Where there is no recording, what the rings do not hold is lost. */
	if (p->tracker)
		(void)!p->source->ops->drain(p->source, is_all, NULL);
	p->fetched_ns = clock_monotonic_ns();
}

/* So that not all of them are lost with a daemon that is killed. */
static void write_directions(struct perf *p, uint64_t now_ns)
{
	if (!p->tracker || now_ns - p->directions_ns < DIRECTIONS_NS)
		return;
	tracker_write_directions(p->tracker);
	p->directions_ns = now_ns;
}

static void perf_work(struct recorder *r, uint64_t now_ns)
{
	struct perf *p = (struct perf *)r;

	fetch(p, false);
	write_directions(p, now_ns);
}

static void perf_drain(struct recorder *r, unused uint64_t now_ns)
{
	fetch((struct perf *)r, true);
}

static void perf_pause(struct recorder *r, bool is_paused)
{
	struct perf *p = (struct perf *)r;

	p->source->ops->pause(p->source, is_paused);
}

static void perf_stop(struct recorder *r)
{
	struct perf *p = (struct perf *)r;

	p->source->ops->stop(p->source);
}

static void add(struct recorder_status *sums, const struct source_stats *s,
		const uint64_t *stops)
{
	sums->samples += s->samples;
	sums->stored += s->samples;
	sums->lost += s->lost;
	for (unsigned i = 0; i < UNWIND_N_STOPS; i++)
		sums->stops[i] += stops[i];
}

static int perf_end(struct recorder *r, unused uint64_t now_ns, bool has_symbols,
		    struct err *e)
{
	struct perf *p = (struct perf *)r;
	struct source_stats stats = { 0 };
	int rc;

	fetch(p, true);
	p->source->ops->finish(p->source, &stats);
	add(&p->sums, &stats, tracker_stops(p->tracker));
	rc = tracker_finish(p->tracker, has_symbols, e);
	tracker_free(p->tracker);
	p->tracker = NULL;
	return rc;
}

static void perf_status(const struct recorder *r, struct recorder_status *ret)
{
	const struct perf *p = (const struct perf *)r;
	struct source_stats stats = { 0 };

	*ret = p->sums;
	ret->kernel_bytes = p->rings_bytes;
	if (!p->tracker)
		return;
	p->source->ops->stats(p->source, &stats);
	add(ret, &stats, tracker_stops(p->tracker));
}

const struct recorder_ops perf_recorder = {
	.source = &perf_source,
	.hz = DEFAULT_HZ,
	.has_registers = true,
	.open = perf_open,
	.begin = perf_begin,
	.start = perf_start,
	.fds = perf_fds,
	.work = perf_work,
	.drain = perf_drain,
	.pause = perf_pause,
	.stop = perf_stop,
	.end = perf_end,
	.status = perf_status,
	.free = perf_free,
};
