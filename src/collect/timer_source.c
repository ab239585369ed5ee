/* SPDX-License-Identifier: Apache-2.0
 *
 * timer_source - CPU time sampled by timers inside the target (inject/).
 *
 * What an ordinary user has where perf_event is forbidden, as it is on stock Debian and
 * Ubuntu.  The timers expire at the kernel's tick only; what an expiry stands for is
 * counted exactly.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/facts.h"
#include "collect/launch_env.h"
#include "collect/source.h"
#include "collect/timer_claims.h"
#include "collect/timer_directory.h"
#include "collect/timer_image.h"
#include "collect/timer_probe.h"
#include "host/clock.h"
#include "host/cpus.h"

extern const struct source_ops timer_source;

#define RING_BYTES_MIN (UINT64_C(64) << 10)
#define RING_BYTES_MAX (UINT64_C(1) << 20)

struct timer {
	struct source base;
	struct source_context context;
	struct timer_directory directory;
	struct wire_sampler_control control;
	struct timer_totals totals;
	struct map known;
	struct timer_claims claims;
	VEC(struct timer_image *) images; /* that run, oldest first */
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

static void write_control(const struct timer *s, size_t at, uint32_t value)
{
	if (pwrite(s->directory.control_fd, &value, sizeof(value), (off_t)at) < 0)
		return; /* the target's loss */
}

static void timer_free(struct source *source)
{
	struct timer *s = (struct timer *)source;
	bool is_used = false;

	vec_each(m, &s->images) {
		is_used |= !(*m)->is_over || kill((pid_t)(*m)->pid, 0) == 0;
		timer_image_free(*m);
	}
	vec_fini(&s->images);
	map_fini(&s->known);
	timer_directory_remove(&s->directory, is_used);
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
	s->totals = (struct timer_totals){ .tracker = c->tracker,
					   .writer = c->writer,
					   .plans = c->plans,
					   .n_plans = c->n_plans,
					   .ops = &timer_source,
					   .interval_ns = s->control.interval_ns,
					   .follows = c->scope->follow_children,
					   .known = &s->known };
	timer_image_seccomp((uint32_t)getpid(), s->totals.seccomp,
			    sizeof(s->totals.seccomp));
	rc = timer_directory_make(&s->directory, &s->control, e);
	if (rc < 0) {
		timer_free(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}

/* The address sanitizer insists on being first of all libraries, unless told. */
#define ASAN_ANY_ORDER "verify_asan_link_order=0"

static void permit_preload(struct launch_env *env)
{
	const char *options = launch_env_get(env, "ASAN_OPTIONS");

	if (options && strstr(options, "verify_asan_link_order"))
		return;

	own(freep) char *with = xasprintf("%s%s" ASAN_ANY_ORDER, options ? options : "",
					  options && *options ? ":" : "");

	launch_env_set(env, "ASAN_OPTIONS", with);
}

static int timer_prepare(struct source *source, struct launch_env *env, struct err *e)
{
	const struct timer *s = (const struct timer *)source;
	const char *others = launch_env_get(env, "LD_PRELOAD");
	char ours[TIMER_DIRECTORY_PRELOAD_MAX];

	(void)e;
	timer_directory_preload(&s->directory, ours);

	own(freep) char *preload = xasprintf("%s%s%s", ours, others && *others ? ":" : "",
					     others ? others : "");

	launch_env_set(env, "LD_PRELOAD", preload);
	launch_env_set(env, WIRE_SAMPLER_ENV, s->directory.path);
	permit_preload(env);
	return 0;
}

static int timer_start(struct source *source, pid_t pid, struct err *e)
{
	struct timer *s = (struct timer *)source;
	char path[64];
	struct stat st;

	s->children_ns = children_ns();
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st) < 0)
		return err_os(e, "cannot look at process %d", (int)pid);
	return timer_directory_give(&s->directory, st.st_uid, st.st_gid, e);
}

/* Running. */

static size_t timer_fds(const struct source *source, struct pollfd *fds, size_t max)
{
	(void)source;
	(void)fds;
	(void)max;
	return 0; /* rings are looked at every time the session wakes up */
}

static int by_start(const void *a, const void *b)
{
	const struct timer_image *const *x = a, *const *y = b;

	return ((*x)->start_ns > (*y)->start_ns) - ((*x)->start_ns < (*y)->start_ns);
}

/* NULL: one that is none. */
static void add_image(void *source, struct timer_ring *ring)
{
	struct timer *s = source;

	if (ring)
		*vec_push(&s->images) = timer_image_new(ring, &s->totals);
	else
		s->totals.damaged++;
}

static void open_ring(struct timer *s, int dir, const char *name)
{
	struct timer_ring *ring = NULL;

	if (timer_ring_open(dir, name, s->directory.owner, &ring, NULL) ==
	    ERR_UNSUPPORTED) /* the target is making it */
		return;
	unlinkat(dir, name, 0);
	add_image(s, ring);
}

/* New images, behind those that are known, in the order in which they started. */
static void find_rings(struct timer *s, uint64_t now_ns)
{
	DIR *dir = fdopendir(openat(s->directory.fd, ".", O_RDONLY | O_CLOEXEC));
	size_t n_before = s->images.n;
	struct dirent *x;

	timer_claims_look(&s->claims, &s->directory, now_ns, add_image, s);
	while (dir && (x = readdir(dir)))
		if (!strncmp(x->d_name, WIRE_SAMPLER_RING_PREFIX,
			     sizeof(WIRE_SAMPLER_RING_PREFIX) - 1))
			open_ring(s, dirfd(dir), x->d_name);
	if (dir)
		closedir(dir);
	if (s->images.n > n_before)
		qsort(s->images.at + n_before, s->images.n - n_before,
		      sizeof(struct timer_image *), by_start);
}

/* An image whose process has exec'ed another ends before that one is taken. */
static void end_replaced(struct timer *s)
{
	struct map newest = { 0 };

	for (size_t i = s->images.n; i-- > 0;) {
		struct timer_image *m = s->images.at[i];
		uint64_t *next = map_slot(&newest, m->pid, NULL);

		if (*next)
			timer_image_replace(m, (struct timer_image *)(uintptr_t)*next);
		*next = (uintptr_t)m;
	}
	map_fini(&newest);
}

static void drop_ended(struct timer *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->images.n; i++) {
		struct timer_image *m = s->images.at[i];

		if (!m->is_over) {
			s->images.at[n++] = m;
			continue;
		}
		timer_claims_give_back(&s->claims, m->ring);
		timer_image_free(m);
	}
	s->images.n = n;
}

static int timer_drain(struct source *source, bool is_final, struct err *e)
{
	struct timer *s = (struct timer *)source;
	uint64_t now_ns = clock_monotonic_ns();

	(void)e;
	find_rings(s, now_ns);
	end_replaced(s);
	for (size_t i = 0; i < s->images.n; i++) {
		struct timer_image *m = s->images.at[i];
		/* Ask before, so that an image that has ended has written everything. */
		bool is_there = m->is_over || timer_image_check(m, now_ns);

		if (is_there && !m->is_over)
			timer_image_drain(m, false);
		if (!is_there || is_final)
			timer_image_end(m, now_ns,
					!is_there || timer_image_has_exited(m));
	}
	if (!is_final)
		drop_ended(s);
	return 0;
}

static void timer_pause(struct source *source, bool is_paused)
{
	write_control((struct timer *)source,
		      offsetof(struct wire_sampler_control, is_paused), is_paused);
}

static void timer_stop(struct source *source)
{
	write_control((struct timer *)source,
		      offsetof(struct wire_sampler_control, is_stopped), 1);
}

/* What came of it. */

static uint64_t n_refused(const struct timer *s)
{
	uint64_t n;

	if (pread(s->directory.control_fd, &n, sizeof(n),
		  offsetof(struct wire_sampler_control, n_refused)) != sizeof(n))
		return 0;
	return n;
}

static void finish_losses(const struct timer *s)
{
	const struct timer_totals *t = &s->totals;
	const struct {
		const char *name;
		uint64_t value;
	} losses[] = {
		{ "lost-samples", t->n_dropped },
		{ "not-followed", t->n_not_followed },
		{ "processes-without-ring", n_refused(s) },
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
	const struct timer_totals *t = &s->totals;
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
