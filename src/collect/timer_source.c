/* SPDX-License-Identifier: Apache-2.0
 *
 * timer_source - CPU time sampled by timers inside the target (inject/).
 *
 * What an ordinary user has where perf_event is forbidden, as it is on stock Debian and
 * Ubuntu.  The timers expire at the kernel's tick only; what an expiry stands for is
 * counted exactly.
 */
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/facts.h"
#include "collect/source.h"
#include "collect/timer_images.h"
#include "collect/timer_preload.h"
#include "collect/timer_probe.h"
#include "host/cpus.h"
#include "wire/sampler_library.h"

extern const struct source_ops timer_source;

#define N_RINGS_FIRST  32
#define RING_BYTES_MIN (UINT64_C(64) << 10)
#define RING_BYTES_MAX (UINT64_C(1) << 20)

static const struct timer_library library = {
	.name = "libdwell-sampler.so",
	.data = sampler_library,
	.data_32bit = sampler_library_32bit,
	.size = &sampler_library_size,
	.size_32bit = &sampler_library_32bit_size,
};

struct timer {
	struct source base;
	struct source_context context;
	struct timer_images images;
	struct wire_sampler_control control;
	uint64_t children_ns; /* CPU time of ended children before the start */
};

static uint64_t tick_ns(void)
{
	struct timespec t;

	if (clock_getres(CLOCK_REALTIME_COARSE, &t) < 0)
		return 10000000;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void timer_range(const struct experiment *x, uint64_t *ret_min,
			uint64_t *ret_resolution)
{
	(void)x;
	*ret_min = tick_ns();
	*ret_resolution = tick_ns();
}

static const char *timer_how(const struct experiment *x, unsigned column)
{
	(void)x;
	(void)column;
	return "timers in the program";
}

/* Setting up. */

static uint64_t smallest_interval(const struct source_context *c)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < c->n_plans; i++)
		if (c->plans[i].source == &timer_source &&
		    (!ns || c->plans[i].choice.interval < ns))
			ns = c->plans[i].choice.interval;
	return ns ? ns : 10000000;
}

/* A CPU makes a sample a tick, some hundred bytes each; room for a second of that. */
static uint64_t ring_bytes(void)
{
	struct cpus cpus = { 0 };
	uint64_t bytes = RING_BYTES_MIN, n = 1;

	if (cpus_online(&cpus, NULL) == 0)
		n = cpus.ids.n;
	cpus_fini(&cpus);
	while (bytes < RING_BYTES_MAX && bytes < n * (RING_BYTES_MIN / 2))
		bytes *= 2;
	return bytes;
}

static uint64_t children_ns(void)
{
	struct rusage u;

	if (getrusage(RUSAGE_CHILDREN, &u) < 0)
		return 0;
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static void timer_free(struct source *source)
{
	struct timer *s = (struct timer *)source;

	timer_images_fini(&s->images);
	free(s);
}

static int timer_open(const struct source_context *c, struct source **ret, struct err *e)
{
	struct timer *s = xcalloc(1, sizeof(*s));
	int rc;

	s->base.ops = &timer_source;
	s->context = *c;
	s->control = (struct wire_sampler_control){
		.magic = WIRE_SAMPLER_MAGIC,
		.version = WIRE_SAMPLER_VERSION,
		.flags = c->scope->follow_children ? WIRE_SAMPLER_FOLLOW : 0,
		.interval_ns = smallest_interval(c),
		.ring_bytes = ring_bytes(),
	};
	s->images.totals = (struct timer_totals){ .tracker = c->tracker,
						  .writer = c->writer,
						  .plans = c->plans,
						  .n_plans = c->n_plans,
						  .ops = &timer_source,
						  .interval_ns = s->control.interval_ns,
						  .follows = c->scope->follow_children,
						  .known = &s->images.known,
						  .present = &s->images.present,
						  .images = &s->images };
	timer_image_seccomp((uint32_t)getpid(), s->images.totals.seccomp,
			    sizeof(s->images.totals.seccomp));
	rc = timer_directory_make(&s->images.directory, &s->control, &library,
				  N_RINGS_FIRST, e);
	if (rc < 0) {
		timer_free(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}

static int timer_prepare(struct source *source, struct launch_env *env, struct err *e)
{
	struct timer *s = (struct timer *)source;

	(void)e;
	timer_preload_set(env, &s->images.directory, WIRE_SAMPLER_ENV);
	return 0;
}

static int timer_start(struct source *source, pid_t pid, struct err *e)
{
	struct timer *s = (struct timer *)source;

	s->children_ns = children_ns();
	return timer_images_give(&s->images, pid, e);
}

/* Running. */

static size_t timer_fds(const struct source *source, struct pollfd *fds, size_t max)
{
	(void)source;
	(void)fds;
	(void)max;
	return 0; /* rings are looked at every time the session wakes up */
}

static int timer_drain(struct source *source, bool is_final, struct err *e)
{
	(void)e;
	timer_images_drain(&((struct timer *)source)->images, is_final);
	return 0;
}

static void timer_pause(struct source *source, bool is_paused)
{
	timer_images_pause(&((struct timer *)source)->images, is_paused);
}

static void timer_stop(struct source *source)
{
	timer_images_stop(&((struct timer *)source)->images);
}

/* What came of it. */

static void finish_losses(const struct timer *s)
{
	const struct timer_totals *t = &s->images.totals;
	const struct {
		const char *name;
		uint64_t value;
	} losses[] = {
		{ "lost-samples", t->n_dropped },
		{ "not-followed", t->n_not_followed },
		{ "processes-without-ring", timer_images_refused(&s->images) },
		{ "threads-without-timer", t->n_threads_refused },
		{ "unsampled-threads", t->n_unsampled },
		{ "damaged-records", t->damaged },
	};

	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		if (losses[i].value || i == 0)
			facts_loss(s->context.writer, losses[i].name, losses[i].value);
}

static void timer_finish(struct source *source, struct source_stats *ret)
{
	struct timer *s = (struct timer *)source;
	const struct timer_totals *t = &s->images.totals;
	struct writer *w = s->context.writer;

	for (size_t i = 0; i < t->n_plans; i++) {
		if (t->plans[i].source != &timer_source)
			continue;
		facts_add_for(w, t->plans[i].events[0], FACT_RATE, "requested-period",
			      "ns", t->plans[i].choice.interval);
		facts_add_for(w, t->plans[i].events[0], FACT_RATE, "delivered", "count",
			      t->n_signals);
	}
	facts_add(w, FACT_RATE, "timer-tick", "ns", tick_ns());
	facts_add(w, FACT_RATE, "timer-overruns", "count", t->n_intervals - t->n_signals);
	facts_add(w, FACT_SELF, "time-in-target", "ns", t->handler_ns);
	finish_losses(s);
	*ret = (struct source_stats){
		.samples = t->n_signals,
		.lost = t->n_dropped,
		.cpu_ns = t->sampled * t->interval_ns,
		.counted_cpu_ns = children_ns() - s->children_ns,
	};
}

const struct source_ops timer_source = {
	.name = "timer",
	.summary = "CPU-time timers inside the program: needs no privilege",
	.probe = timer_probe,
	.range = timer_range,
	.how = timer_how,
	.open = timer_open,
	.prepare = timer_prepare,
	.start = timer_start,
	.fds = timer_fds,
	.drain = timer_drain,
	.pause = timer_pause,
	.stop = timer_stop,
	.finish = timer_finish,
	.free = timer_free,
};
