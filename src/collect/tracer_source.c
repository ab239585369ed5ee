/* SPDX-License-Identifier: Apache-2.0
 *
 * tracer_source - calls observed by wrappers inside the target (inject/trace_*.c).
 *
 * Everything is written by the target in its order, and summed here: nothing about an
 * address is forgotten before it is known what became of it.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/counter.h"
#include "collect/facts.h"
#include "collect/inject.h"
#include "collect/region_control.h"
#include "collect/source.h"
#include "collect/timer_images.h"
#include "collect/timer_preload.h"
#include "collect/timer_probe.h"
#include "collect/traced_image.h"
#include "collect/tracer_interim.h"
#include "collect/tracer_visits.h"
#include "host/clock.h"
#include "host/procfs.h"
#include "wire/marks_library.h"
#include "wire/tracer_library.h"
#include "wire/tracer_sync.h"

extern const struct source_ops tracer_source;

/* Some milliseconds of a program that does nothing but allocate. */
#define RING_BYTES (UINT64_C(4) << 20)
/* Seconds of one of whose bytes but one in so many is told. */
#define RING_BYTES_SAMPLED (UINT64_C(1) << 20)
#define SAMPLE_BYTES_LEAST (UINT64_C(64) << 10)
#define N_RINGS_FIRST	   2
/* How often rings are looked at: while much comes, and at most. */
#define LOOK_NS_MIN UINT64_C(1000000)
#define LOOK_NS_MAX UINT64_C(16000000)
/* There: at most, while for the time below no program has come or gone. */
#define LOOK_NS_SAMPLED UINT64_C(64000000)
#define SETTLED_NS	UINT64_C(100000000)
/* Until others that observe the same programs have told of one. */
#define LAG_NS UINT64_C(20000000)

struct tracer {
	struct source base;
	struct source_context context;
	struct timer_images images;
	struct tracer_visits visits;
	struct tracer_interim interim;
	int timer;
	VEC(int) bells; /* the other ends are rung by programs */
	uint64_t look_ns, n_taken;
	uint64_t changed_ns, n_images; /* since when there are these, as many had come */
	size_t n_there;
	bool is_seldom;		   /* all that is observed is some of the blocks */
	uint64_t n_asked;	   /* callstacks of regions */
	bool is_paused, has_begun; /* nothing is observed before */
};

static const struct timer_library tracing_library = {
	.name = "libdwell-tracer.so",
	.data = tracer_library,
	.data_32bit = tracer_library_32bit,
	.size = &tracer_library_size,
	.size_32bit = &tracer_library_32bit_size,
};

/* Of one that wraps nothing. */
static const struct timer_library hearing_library = {
	.name = "libdwell-marks.so",
	.data = marks_library,
	.data_32bit = marks_library_32bit,
	.size = &marks_library_size,
	.size_32bit = &marks_library_32bit_size,
};

static int tracer_probe(const struct experiment *x, const struct scope *scope,
			struct err *e)
{
	if (!tracing_of(x))
		return err_set(e, ERR_UNSUPPORTED, "wraps calls, and takes no samples");
	if (x->counter) {
		int rc = counter_probe(x->counter, e);

		if (rc < 0)
			return rc;
	}
	if (tracing_of(x)->why_not)
		return err_set(e, ERR_UNSUPPORTED, "%s", tracing_of(x)->why_not);
	if (scope->kind == SCOPE_PROCESSES) {
		if (inject_why_not)
			return err_set(e, ERR_UNSUPPORTED, "%s", inject_why_not);
		/* What nothing can be put into has waits that others see. */
		return x->beside ? 0
				 : tracer_visits_probe(scope, tracing_of(x)->trace, e);
	}
	if (scope->kind != SCOPE_LAUNCH)
		return err_set(e, ERR_UNSUPPORTED,
			       "is loaded when a program starts: use 'dwell run'");
	return timer_probe_program(scope->program, "", e);
}

static void tracer_range(const struct experiment *x, uint64_t *ret_min,
			 uint64_t *ret_resolution)
{
	(void)x;
	*ret_min = 1;
	*ret_resolution = 1;
}

static const char *tracer_how(const struct experiment *x, unsigned column)
{
	(void)x;
	(void)column;
	return "wrappers in the program";
}

static void tracer_free(struct source *source)
{
	struct tracer *s = (struct tracer *)source;

	tracer_visits_fini(&s->visits);
	if (s->images.totals.is_visit && s->images.totals.brings)
		timer_images_await(&s->images);
	timer_images_fini(&s->images);
	closep(&s->timer);
	vec_each(bell, &s->bells)
		closep(bell);
	vec_fini(&s->bells);
	free(s);
}

static int set_timer(const struct tracer *s, struct err *e)
{
	const struct itimerspec t = { .it_value.tv_nsec = (long)s->look_ns };

	return timerfd_settime(s->timer, 0, &t, NULL) < 0
		       ? err_os(e, "cannot set a timer")
		       : 0;
}

/* Every plan of a session has the same. */
static uint64_t sample_bytes(const struct source_context *c)
{
	return c->n_plans ? c->plans[0].sample_bytes : 0;
}

static bool has_company(const struct source_context *c)
{
	for (size_t i = 0; i < c->n_plans; i++)
		if (c->plans[i].source != &tracer_source || c->plans[i].beside)
			return true;
	return false;
}

static uint32_t traces(const struct source_context *c)
{
	uint32_t bits = WIRE_TRACER_MARKS;

	for (size_t i = 0; i < c->n_plans; i++)
		if (c->plans[i].source == &tracer_source)
			bits |= tracing_of(c->plans[i].choice.experiment)->trace;
	return bits;
}

/* What a program says of itself needs none of its calls, unless they are to bring the
 * library to what it executes. */
static const struct timer_library *library_for(const struct wire_sampler_control *c)
{
	return c->traces & ~(WIRE_TRACER_MARKS | WIRE_TRACER_REGIONS) ||
			       c->flags & WIRE_SAMPLER_BRING
		       ? &tracing_library
		       : &hearing_library;
}

/* Exceptions that are unmasked in a program which goes on when we have gone would be
 * hidden from it for ever. */
static uint32_t flags(const struct source_context *c)
{
	uint32_t wanted = traces(c);

	if (!c->scope->follow_children)
		return 0;
	if (c->scope->kind != SCOPE_PROCESSES || wanted & WIRE_TRACER_FPE ||
	    wanted == WIRE_TRACER_MARKS)
		return WIRE_SAMPLER_FOLLOW;
	return WIRE_SAMPLER_FOLLOW | WIRE_SAMPLER_BRING;
}

static void set_totals(struct tracer *s, const struct source_context *c)
{
	s->images.totals =
		(struct timer_totals){ .tracker = c->tracker,
				       .writer = c->writer,
				       .plans = c->plans,
				       .n_plans = c->n_plans,
				       .ops = &tracer_source,
				       .tracing = &traced_image_tracing,
				       .gauges = c->gauges,
				       .lag_ns = has_company(c) ? LAG_NS : 0,
				       .sample_bytes = sample_bytes(c),
				       .follows = c->scope->follow_children,
				       .is_visit = c->scope->kind == SCOPE_PROCESSES,
				       .brings = flags(c) & WIRE_SAMPLER_BRING,
				       .known = &s->images.known,
				       .present = &s->images.present,
				       .refused = &s->visits.refused,
				       .images = &s->images };
}

/* All that is observed is a few of the blocks. */
static bool is_seldom(const struct source_context *c)
{
	return sample_bytes(c) >= SAMPLE_BYTES_LEAST &&
	       traces(c) == (WIRE_TRACER_HEAP | WIRE_TRACER_MARKS);
}

static uint32_t fpe_types(const struct source_context *c)
{
	uint32_t types = 0;

	for (size_t i = 0; i < c->n_plans; i++)
		if (c->plans[i].source == &tracer_source)
			types |= c->plans[i].choice.types;
	return types;
}

/* Somebody else sees waits, who is to know which ones are told from here. */
static uint64_t waits_cookie(const struct source_context *c)
{
	for (size_t i = 0; i < c->n_plans; i++)
		if (c->plans[i].source == &tracer_source && c->plans[i].beside &&
		    c->plans[i].choice.experiment->trigger == EXPERIMENT_SYNC)
			return c->cookie;
	return 0;
}

_Static_assert(SOURCE_THRESHOLD_MEASURED == WIRE_TRACER_CALIBRATE, "as it is told");

static uint64_t wait_threshold_ns(const struct source_context *c)
{
	for (size_t i = 0; i < c->n_plans; i++)
		if (c->plans[i].choice.experiment->trigger == EXPERIMENT_SYNC)
			return c->plans[i].wait_threshold_ns;
	return 0;
}

/* As long as we are there: the programs see it when we are killed. */
static int hold_control(const struct timer_directory *d, struct err *e)
{
	struct flock lock = { .l_type = F_WRLCK, .l_len = 1 };

	return fcntl(d->control_fd, F_OFD_SETLK, &lock) < 0
		       ? err_os(e, "cannot lock the tracer's control file")
		       : 0;
}

/* In force here, and so in every program that we start (inject/call_filters.h). */
static uint32_t n_call_filters(void)
{
	char status[PROCFS_STATUS_BYTES];
	const char *at;

	if (procfs_status(getpid(), status, NULL) < 0)
		return UINT32_MAX;
	at = strstr(status, "\nSeccomp_filters:\t");
	if (at)
		return (uint32_t)strtoul(strchr(at, '\t'), NULL, 10);
	at = strstr(status, "\nSeccomp:\t");
	return at ? at[sizeof("\nSeccomp:\t") - 1] != '0' : UINT32_MAX;
}

/* A directory where programs and we meet, with all in it. */
static int open_directory(void *ctx, struct timer_directory *ret, struct err *e)
{
	struct tracer *s = ctx;
	const struct source_context *c = &s->context;
	struct wire_sampler_control control = {
		.magic = WIRE_SAMPLER_MAGIC,
		.version = WIRE_SAMPLER_VERSION,
		.flags = flags(c),
		.waits_cookie = waits_cookie(c),
		.interval_ns = 1,
		.ring_bytes = is_seldom(c) ? RING_BYTES_SAMPLED : RING_BYTES,
		.traces = traces(c),
		.fpe_types = fpe_types(c),
		.wait_threshold_ns = wait_threshold_ns(c),
		.sample_bytes = sample_bytes(c),
		.n_call_filters = n_call_filters(),
	};
	int bell = -1;
	int rc = timer_directory_make(ret, &control, library_for(&control), N_RINGS_FIRST,
				      e);

	if (rc == 0)
		rc = timer_directory_add_bell(ret, &bell, e);
	if (rc == 0)
		*vec_push(&s->bells) = bell;
	if (rc == 0)
		rc = hold_control(ret, e);
	if (rc == 0)
		rc = region_control_write(ret->control_fd, c, e);
	if (rc < 0)
		timer_directory_remove(ret, false);
	return rc;
}

/* Others see waits, too: those of a process that nothing can be put into. */
static bool is_dispensable(const struct source_context *c)
{
	bool is = true;

	for (size_t i = 0; i < c->n_plans; i++)
		is &= c->plans[i].source != &tracer_source || c->plans[i].beside;
	return is;
}

static int tracer_open(const struct source_context *c, struct source **ret, struct err *e)
{
	struct tracer *s = xcalloc(1, sizeof(*s));
	int rc;

	s->base.ops = &tracer_source;
	s->context = *c;
	s->look_ns = LOOK_NS_MAX;
	s->is_seldom = is_seldom(c);
	s->has_begun = true;
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	s->visits.context = &s->context;
	s->visits.images = &s->images;
	s->visits.traces = traces(c);
	s->visits.is_dispensable = is_dispensable(c);
	s->visits.open = open_directory;
	s->visits.ctx = s;
	set_totals(s, c);
	rc = open_directory(s, &s->images.directory, e);
	if (rc == 0)
		rc = set_timer(s, e);
	if (rc < 0) {
		tracer_free(&s->base);
		return rc;
	}
	*ret = &s->base;
	return 0;
}

static int tracer_prepare(struct source *source, struct launch_env *env, struct err *e)
{
	struct tracer *s = (struct tracer *)source;

	(void)e;
	if (s->context.scope->kind == SCOPE_LAUNCH)
		timer_preload_set(env, &s->images.directory, WIRE_TRACER_ENV);
	return 0;
}

/* What is known of waits in processes that ran already. */
static void note_waits(const struct tracer *s)
{
	const struct tracer_visits *v = &s->visits;
	struct writer *w = s->context.writer;

	if (v->unwrapped.code)
		writer_info(w, "unwrapped-waits", v->unwrapped.text);
	if (v->injected.n && v->traces & WIRE_TRACER_SYNC)
		writer_info(w, "wrapped-waits",
			    waits_cookie(&s->context) ? "locks" : "locks only");
}

static int visit_all(struct tracer *s, struct err *e)
{
	int rc = tracer_visits_begin(&s->visits, e);

	s->images.totals.n_not_followed += s->visits.n_refused;
	note_waits(s);
	return rc;
}

static void tracer_pause(struct source *source, bool is_paused)
{
	struct tracer *s = (struct tracer *)source;

	s->is_paused = is_paused;
	timer_images_pause(&s->images, is_paused || !s->has_begun);
}

static int tracer_start(struct source *source, pid_t pid, struct err *e)
{
	struct tracer *s = (struct tracer *)source;

	if (pid)
		return timer_images_give(&s->images, pid, e);
	/* Others are to see what processes tell with their first events, and have not
	 * begun; nor has the recording, for which a mark would come too early. */
	s->has_begun = false;
	tracer_pause(source, s->is_paused);
	return visit_all(s, e);
}

static size_t tracer_fds(const struct source *source, struct pollfd *fds, size_t max)
{
	const struct tracer *s = (const struct tracer *)source;

	size_t n = 0;

	if (max < 1 + s->bells.n)
		return 0;
	fds[n++] = (struct pollfd){ .fd = s->timer, .events = POLLIN };
	vec_each(bell, &s->bells)
		fds[n++] = (struct pollfd){ .fd = *bell, .events = POLLIN };
	return n;
}

/* Bytes that all living images have written. */
static uint64_t n_written(const struct tracer *s)
{
	uint64_t n = 0;

	vec_each(m, &s->images.all)
		n += timer_ring_header((*m)->ring)->head;
	return n;
}

/* Who has rung is heard by what comes next. */
static void silence(int bell)
{
	char rings[256];

	while (read(bell, rings, sizeof(rings)) == sizeof(rings))
		;
}

/* Programs that come and go have children that get no ring, and others that need one. */
static bool is_settled(struct tracer *s)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (s->images.totals.n_images != s->n_images || s->images.all.n != s->n_there) {
		s->n_images = s->images.totals.n_images;
		s->n_there = s->images.all.n;
		s->changed_ns = now_ns;
	}
	return now_ns - s->changed_ns > SETTLED_NS;
}

static void set_look(struct tracer *s, bool is_busy)
{
	uint64_t max = is_settled(s) && s->is_seldom ? LOOK_NS_SAMPLED : LOOK_NS_MAX;

	s->look_ns = is_busy ? LOOK_NS_MIN : 2 * s->look_ns;
	if (s->look_ns > max)
		s->look_ns = max;
}

static int tracer_drain(struct source *source, bool is_final, struct err *e)
{
	struct tracer *s = (struct tracer *)source;
	uint64_t before = n_written(s), now_ns = clock_monotonic_ns();
	bool is_busy;

	if (!s->has_begun) {
		s->has_begun = true;
		tracer_pause(source, s->is_paused);
		tracer_visits_tell(&s->visits);
		if (waits_cookie(&s->context))
			tracer_visits_interrupt(&s->visits);
	}
	vec_each(bell, &s->bells)
		silence(*bell);
	tracer_visits_look(&s->visits);
	is_busy = timer_images_drain(&s->images, is_final);
	if (!is_final)
		tracer_interim_look(&s->interim, &s->images, now_ns);
	set_look(s, is_busy || n_written(s) - before > RING_BYTES / 128);
	return set_timer(s, e);
}

static void tracer_ask(struct source *source)
{
	struct tracer *s = (struct tracer *)source;

	uint64_t now_ns = clock_monotonic_ns();

	s->n_asked++;
	region_control_ask(s->images.directory.control_fd, s->n_asked, now_ns);
	vec_each(p, &s->images.more)
		region_control_ask((*p)->directory.control_fd, s->n_asked, now_ns);
}

static void tracer_stop(struct source *source)
{
	struct tracer *s = (struct tracer *)source;

	timer_images_stop(&s->images);
	tracer_visits_end(&s->visits);
}

static void finish_losses(const struct tracer *s)
{
	const struct timer_totals *t = &s->images.totals;
	const struct {
		const char *name;
		uint64_t value;
	} losses[] = {
		{ "lost-events", t->n_dropped },
		{ "not-followed", t->n_not_followed },
		{ "processes-without-ring", timer_images_refused(&s->images) },
		{ "restricted-processes", t->n_threads_refused },
		{ "damaged-records", t->damaged },
		{ "unmatched-frees", t->n_unmatched },
		{ "unseen-frees", t->n_retaken },
		{ t->is_visit ? "unseen-begins" : "unmatched-ends", t->n_unmatched_ends },
		{ "cut-regions", t->n_cut_regions },
		{ "late-marks", t->n_late_marks },
		{ "unobserved-regions", t->n_refused_regions },
	};

	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		if (losses[i].value || i == 0)
			facts_loss(s->context.writer, losses[i].name, losses[i].value);
}

/* Who is only heard beside what others observe misses nothing of that. */
static void finish_hearing(const struct tracer *s)
{
	if (s->images.totals.n_late_marks)
		facts_loss(s->context.writer, "late-marks",
			   s->images.totals.n_late_marks);
}

static void tracer_finish(struct source *source, struct source_stats *ret)
{
	struct tracer *s = (struct tracer *)source;
	const struct timer_totals *t = &s->images.totals;

	if (traces(&s->context) == WIRE_TRACER_MARKS)
		finish_hearing(s);
	else
		finish_losses(s);
	if (traces(&s->context) & WIRE_TRACER_IO)
		facts_add(s->context.writer, FACT_RATE, "wrapped-io", "count", 1);
	if (s->visits.stood_ns)
		facts_add(s->context.writer, FACT_RATE, "stopped", "ns",
			  s->visits.stood_ns);
	*ret = (struct source_stats){ .samples = t->n_events,
				      .lost = t->n_dropped,
				      .trouble = s->visits.trouble };
}

const struct source_ops tracer_source = {
	.name = "tracer",
	.turn_at = SOURCE_IS_TOLD,
	.summary = "wrappers inside the program: needs no privilege",
	.sums = true,
	.starts_first = true,
	.probe = tracer_probe,
	.range = tracer_range,
	.how = tracer_how,
	.open = tracer_open,
	.prepare = tracer_prepare,
	.start = tracer_start,
	.fds = tracer_fds,
	.drain = tracer_drain,
	.pause = tracer_pause,
	.ask = tracer_ask,
	.stop = tracer_stop,
	.finish = tracer_finish,
	.free = tracer_free,
};
