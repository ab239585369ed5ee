/* SPDX-License-Identifier: Apache-2.0
 *
 * anchors_source - exact counts of a running program now and then.
 *
 * In windows of some milliseconds the counting engine comes to the process and goes again
 * (collect/count_attach): how often each block was executed there is exact, but beside
 * each other only, for nobody knows how much of the program's work that was.  So some
 * calls and jumps lead through counters between windows (collect/anchor_meters): how
 * often they are executed in how much CPU time.  Where there are none some register may
 * tell how often a loop was (collect/anchor_steps), or the CPU stops at a few blocks, for
 * a millisecond at a time.  All of it costs something; windows and turns
 * come as often as the budget allows, at times that are chosen by chance.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/anchor_cost.h"
#include "collect/anchor_meters.h"
#include "collect/anchor_record.h"
#include "collect/anchor_steps.h"
#include "collect/anchor_turns.h"
#include "collect/anchor_watch.h"
#include "collect/count_directory.h"
#include "collect/count_late.h"
#include "collect/count_orders.h"
#include "collect/count_status.h"
#include "collect/count_visits.h"
#include "collect/facts.h"
#include "collect/source.h"
#include "host/clock.h"
#include "host/procfs.h"
#include "wire/count_flags.h"
#include "wire/count_program.h"

extern const struct source_ops anchors_source;

#define WINDOW_CPU_NS  8000000u
#define WINDOW_WALL_NS 100000000u /* of programs that wait */
#define WINDOW_COST_NS 20000000u  /* before one was measured */
#define LOOK_NS	       2000000u	  /* whether it is over */
#define WATCH_NS       4000000u	  /* at first; then so long that it is worth to turn */
#define WATCH_LEAST_NS 2000000u
#define WATCH_MOST_NS  20000000u
#define WATCH_COST_NS  200000u
/* To open and close the breakpoints of a thread. */
#define WATCH_TURN_NS 50000u
/* Looking more often would cost more than most counters. */
#define IDLE_LEAST_NS 2000000u
#define IDLE_MOST_NS  20000000u
#define IDLE_TURNS_NS 5000000u	 /* where there are turns between windows */
#define MOST_WATCH_NS 200000000u /* between two turns */
#define WINDOWS_PART  0.6	 /* of the budget, with turns ... */
#define METERED_PART  0.9	 /* ... and with counters */
#define NEAR_NS	      20000000u	 /* of CPU time, before and behind a window */
#define NEAR_WALL_NS  500000000u
#define SLOWDOWN      2 /* of the program in a window, about */
#define REFUSALS_MAX  3
#define PER_CENT      100.0

enum state {
	IDLE,
	BEFORE, /* a window comes soon */
	ALONE,	/* others have been told to pause */
	COUNTING,
	RESUMING, /* others are told to go on */
	BEHIND,	  /* one was right before */
	WATCHING,
};

struct anchors {
	struct source base;
	struct source_context context;
	struct count_directory directory;
	struct count_visits visits;
	struct anchor_record record;
	struct anchor_meters meters;
	struct anchor_steps steps;
	struct anchor_watch watch;
	struct anchor_turns turns;
	int timer;
	pid_t pid;
	clockid_t clock; /* the process's CPU time */
	char exe[PATH_MAX];
	double budget;
	enum state state;
	uint64_t random;
	uint32_t n_windows;
	unsigned n_refused;
	struct err refusal;
	struct err why_kept; /* the counters, at the end */
	/* Of the process's CPU time: at first, now, until then it has been told of, when
	 * the next window and the next turn are due. */
	uint64_t first_ns, cpu_ns, told_ns, window_due_ns, watch_due_ns;
	uint64_t began_ns; /* wall time of a window, or of a moment near one */
	uint64_t begin_cpu_ns, own_cpu_ns;
	uint64_t leaders[ANCHOR_CHOICE_MAX];
	size_t n_leaders, n_turns, first_watched, n_watched;
	size_t n_turns_before; /* the last window */
	/* Of CPU time: when the last window was left, and since then; 0: disturbed. */
	uint64_t left_ns, gap_ns;
	uint64_t hit_ns; /* 0: there are no breakpoints */
	uint64_t watch_ns;
	uint64_t spent_ns;
};

static int anchors_probe(const struct experiment *x, const struct scope *scope,
			 struct err *e)
{
	struct count_status status;

	if (x->trigger != EXPERIMENT_ANCHORS)
		return err_set(e, ERR_UNSUPPORTED, "it feeds anchors only");
	if (!count_program_size)
		return err_set(e, ERR_UNSUPPORTED,
			       "programs are run in translation on x86-64 only");
	if (scope->kind == SCOPE_PROCESSES && scope->n_pids == 1)
		return count_status_check(scope->pids[0], &status, e);
	if (scope->kind != SCOPE_LAUNCH &&
	    (scope->kind != SCOPE_PROCESSES || scope->n_pids))
		return err_set(e, ERR_UNSUPPORTED,
			       "one process is counted now and then: 'dwell run', or "
			       "'dwell attach -p PID'");
	return 0;
}

static void anchors_range(const struct experiment *x, uint64_t *ret_min,
			  uint64_t *ret_resolution)
{
	(void)x;
	*ret_min = 1;
	*ret_resolution = 0;
}

static const char *anchors_how(const struct experiment *x, unsigned column)
{
	(void)x;
	(void)column;
	return "running it in translation now and then";
}

static void anchors_free(struct source *source)
{
	struct anchors *s = (struct anchors *)source;

	anchor_watch_fini(&s->watch);
	count_visits_end(&s->visits);
	count_directory_remove(&s->directory, s->visits.n_kept);
	count_visits_fini(&s->visits);
	anchor_turns_fini(&s->turns);
	anchor_steps_fini(&s->steps);
	anchor_meters_fini(&s->meters);
	anchor_record_fini(&s->record);
	closep(&s->timer);
	free(s);
}

static double budget_of(const struct source_context *c)
{
	for (size_t i = 0; i < c->n_plans; i++)
		if (c->plans[i].source == &anchors_source)
			return (double)c->plans[i].choice.interval / PER_CENT;
	return 1 / PER_CENT;
}

static int anchors_open(const struct source_context *c, struct source **ret,
			struct err *e)
{
	struct anchors *s = xcalloc(1, sizeof(*s));

	s->base.ops = &anchors_source;
	s->context = *c;
	s->budget = budget_of(c);
	s->record = (struct anchor_record){ .tracker = c->tracker, .writer = c->writer };
	s->meters = (struct anchor_meters){ .record = &s->record,
					    .budget = s->budget,
					    .hit_ns = anchor_cost_hit_ns() };
	s->random = clock_monotonic_ns() | 1;
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->timer < 0) {
		anchors_free(&s->base);
		return err_os(e, "cannot have a timer");
	}
	/* Without breakpoints there are windows all the same. */
	if (anchor_watch_measure(&s->hit_ns, NULL) < 0)
		s->hit_ns = 0;
	s->watch_ns = WATCH_NS;
	*ret = &s->base;
	return 0;
}

static void wake_in(const struct anchors *s, uint64_t ns)
{
	struct itimerspec t = { .it_value = { .tv_nsec = (long)ns } };

	timerfd_settime(s->timer, 0, &t, NULL);
}

/* From half of it to one and a half. */
static uint64_t by_chance(struct anchors *s, double ns)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (uint64_t)(ns * (0.5 + (double)(s->random >> 11) * 0x1p-53));
}

/* A window that costs so much, of a part of the budget; never before all that was spent,
 * and this as well, is within it. */
static void plan_window(struct anchors *s, uint64_t cost_ns, double part)
{
	double all_ns = (double)(s->spent_ns + s->meters.spent_ns + cost_ns);
	uint64_t due_ns = s->cpu_ns + by_chance(s, (double)cost_ns / (s->budget * part)),
		 least_ns = s->first_ns + (uint64_t)(all_ns / s->budget);

	s->window_due_ns = due_ns > least_ns ? due_ns : least_ns;
}

static uint64_t cpu_of(const struct anchors *s)
{
	struct timespec t;

	if (clock_gettime(s->clock, &t) != 0)
		return s->cpu_ns;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int anchors_start(struct source *source, pid_t pid, struct err *e)
{
	struct anchors *s = (struct anchors *)source;

	s->pid = pid ? pid : s->context.scope->pids[0];
	s->record.pid = (uint32_t)s->pid;
	errno = clock_getcpuclockid(s->pid, &s->clock);
	if (errno)
		return err_os(e, "cannot tell the CPU time of process %d", s->pid);
	s->meters.counters.pid = s->pid;
	s->meters.clock = s->clock;
	s->first_ns = s->cpu_ns = s->told_ns = cpu_of(s);
	plan_window(s, WINDOW_COST_NS, 1);
	wake_in(s, IDLE_LEAST_NS);
	return 0;
}

static size_t anchors_fds(const struct source *source, struct pollfd *fds, size_t max)
{
	const struct anchors *s = (const struct anchors *)source;

	if (!max)
		return 0;
	*fds = (struct pollfd){ .fd = s->timer, .events = POLLIN };
	return 1;
}

static void tell_time(struct anchors *s)
{
	if (s->cpu_ns > s->told_ns)
		anchor_record_passed(&s->record, s->n_windows, s->cpu_ns - s->told_ns);
	s->told_ns = s->cpu_ns;
}

/* Near windows. */

static void begin_near(struct anchors *s, enum state state)
{
	anchor_meters_begin_near(&s->meters);
	s->begin_cpu_ns = s->cpu_ns;
	s->began_ns = clock_monotonic_ns();
	s->state = state;
}

static bool is_near_over(const struct anchors *s)
{
	return s->cpu_ns - s->begin_cpu_ns >= NEAR_NS ||
	       clock_monotonic_ns() - s->began_ns >= NEAR_WALL_NS;
}

static void ask_to_be_alone(struct anchors *s)
{
	s->base.wants_alone = true;
	s->state = ALONE;
}

/* Windows. */

static int come(struct anchors *s, struct err *e)
{
	char flags[COUNT_FLAGS_MAX];
	int rc = *s->directory.path ? 0
				    : count_directory_make_for(&s->directory, s->pid, e);

	count_orders_make(s->context.scope, flags);
	return rc < 0 ? rc
		      : count_visits_begin(&s->visits, s->pid, &s->directory, flags, e);
}

static void be_refused(struct anchors *s, const struct err *why)
{
	if (!s->n_refused++)
		s->refusal = *why;
	anchor_meters_end_near(&s->meters);
	s->spent_ns += clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - s->own_cpu_ns;
	s->base.wants_alone = false;
	s->state = IDLE;
	plan_window(s, WINDOW_COST_NS, 1);
}

static void begin_window(struct anchors *s)
{
	struct err why = { 0 };

	s->gap_ns = s->n_turns == s->n_turns_before ? s->cpu_ns - s->left_ns : 0;
	tell_time(s);
	anchor_meters_tell(&s->meters, s->n_windows);
	s->own_cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	s->begin_cpu_ns = s->cpu_ns;
	if (come(s, &why) < 0) {
		be_refused(s, &why);
		return;
	}
	s->began_ns = clock_monotonic_ns();
	s->state = COUNTING;
}

/* The process's file, and those of children that it had meanwhile. */
static void read_window(struct anchors *s)
{
	struct count_directory_list list = { 0 };

	count_directory_list(&s->directory, &list);
	vec_each(f, &list.at) {
		own(closep) int fd = count_directory_open(&s->directory, *f);
		struct count_window window;
		struct count_reader r;

		count_window_over(&fd, &window);
		if (fd >= 0 && count_reader_open(&window, &r, NULL) == 0) {
			if (r.pid == (uint32_t)s->pid)
				anchor_record_window(&s->record, s->n_windows,
						     clock_monotonic_ns(), &r);
			count_reader_fini(&r);
		}
		count_directory_drop(&s->directory, *f);
	}
	vec_fini(&list.at);
}

/* What happens natively is told already. */
static bool are_metered(const struct anchors *s)
{
	return anchor_meters_are(&s->meters) || s->steps.are_there;
}

static void choose_leaders(struct anchors *s, uint64_t cpu_ns)
{
	anchor_meters_choose(&s->meters, cpu_ns / SLOWDOWN);
	if (!s->hit_ns || s->n_leaders || are_metered(s))
		return;
	s->n_leaders = anchor_choice_make(s->record.blocks.at, s->record.blocks.n,
					  cpu_ns / SLOWDOWN, s->leaders);
	s->watch_due_ns = s->cpu_ns;
}

static double windows_part(const struct anchors *s)
{
	return are_metered(s) ? METERED_PART : WINDOWS_PART;
}

static void end_window(struct anchors *s)
{
	uint64_t counted_ns = cpu_of(s) - s->begin_cpu_ns, cost_ns;

	count_visits_end(&s->visits);
	anchor_meters_begin(&s->meters);
	s->cpu_ns = s->told_ns = s->left_ns = cpu_of(s);
	read_window(s);
	anchor_steps_window(&s->steps, s->n_windows, &s->visits.came, &s->visits.left,
			    s->gap_ns, s->record.blocks.at, s->record.blocks.n);
	s->n_turns_before = s->n_turns;
	s->n_windows++;
	choose_leaders(s, counted_ns);
	cost_ns = s->cpu_ns - s->begin_cpu_ns - counted_ns / SLOWDOWN +
		  clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - s->own_cpu_ns;
	s->spent_ns += cost_ns;
	plan_window(s, cost_ns, windows_part(s));
	s->base.wants_alone = false;
	s->state = RESUMING;
}

static bool is_window_over(const struct anchors *s)
{
	return s->cpu_ns - s->begin_cpu_ns >= WINDOW_CPU_NS ||
	       clock_monotonic_ns() - s->began_ns >= WINDOW_WALL_NS;
}

/* Turns. */

static void plan_turn(struct anchors *s, uint64_t cost_ns)
{
	double ns = (double)cost_ns / (s->budget * (1 - WINDOWS_PART));

	s->watch_due_ns =
		s->cpu_ns + by_chance(s, ns < MOST_WATCH_NS ? ns : MOST_WATCH_NS);
}

/* One leader at a time, and all of them after these. */
static void begin_turn(struct anchors *s)
{
	size_t n = s->n_turns++ % (s->n_leaders + 1);
	bool is_all = n == s->n_leaders;

	s->first_watched = is_all ? 0 : n;
	s->n_watched = is_all ? s->n_leaders : 1;
	if (anchor_watch_begin(&s->watch, s->pid, s->leaders + s->first_watched,
			       s->n_watched))
		s->state = WATCHING;
	else
		plan_turn(s, WATCH_COST_NS);
}

static void adapt_turn(struct anchors *s, uint64_t hits_ns)
{
	if (hits_ns < 2 * WATCH_TURN_NS && s->watch_ns < WATCH_MOST_NS)
		s->watch_ns *= 2;
	if (hits_ns > 20 * WATCH_TURN_NS && s->watch_ns > WATCH_LEAST_NS)
		s->watch_ns /= 2;
}

static void end_turn(struct anchors *s)
{
	uint64_t hits_ns;

	anchor_watch_end(&s->watch);
	for (size_t i = 0; i < s->n_watched && s->watch.cpu_ns; i++)
		anchor_turns_add(&s->turns,
				 &(struct anchor_turns_sum){
					 .addr = s->leaders[s->first_watched + i],
					 .window = s->n_windows,
					 .is_all = s->n_watched > 1,
					 .hits = s->watch.hits[i],
					 .all_hits = s->watch.all_hits,
					 .cpu_ns = s->watch.cpu_ns });
	hits_ns = s->watch.all_hits *
		  (uint64_t)anchor_turns_hit_ns(&s->turns, (double)s->hit_ns);
	adapt_turn(s, hits_ns);
	s->spent_ns += hits_ns + WATCH_TURN_NS;
	plan_turn(s, hits_ns + WATCH_TURN_NS);
	s->state = IDLE;
}

/* All at once, when as much as can be is known of what it cost. */
static void tell_turns(struct anchors *s)
{
	double hit_ns = anchor_turns_hit_ns(&s->turns, (double)s->hit_ns);

	vec_each(x, &s->turns.sums)
		anchor_record_watched(&s->record, x->window, x->addr, x->hits,
				      anchor_turns_native_ns(x, hit_ns));
	if (s->turns.sums.n)
		facts_add(s->context.writer, FACT_RATE, "breakpoint-cost", "ns",
			  (uint64_t)hit_ns);
	anchor_turns_clear(&s->turns);
}

static void tell_steps(struct anchors *s)
{
	anchor_steps_sift(&s->steps);
	vec_each(x, &s->steps.gaps)
		anchor_record_watched(&s->record, x->window, x->walk.addr, x->times,
				      x->cpu_ns);
	anchor_steps_forget(&s->steps);
}

/* Running. */

/* Another program: nothing of what was known is there.  But its file may have been given
 * another name, or none, and then the counters are. */
static void check_exe(struct anchors *s)
{
	char exe[PATH_MAX] = "";

	if (procfs_exe(s->pid, exe, sizeof(exe), NULL) < 0 || !strcmp(exe, s->exe))
		return;
	snprintf(s->exe, sizeof(s->exe), "%s", exe);
	tell_turns(s);
	tell_steps(s);
	s->n_leaders = 0;
	anchor_meters_check(&s->meters);
	map_clear(&s->record.locations);
}

static void be_idle(struct anchors *s)
{
	anchor_meters_look(&s->meters, s->n_windows);
	if (s->n_refused < REFUSALS_MAX && s->cpu_ns >= s->window_due_ns &&
	    !count_late_find(s->pid)) {
		check_exe(s);
		begin_near(s, BEFORE);
	} else if (s->n_leaders && !are_metered(s) && s->cpu_ns >= s->watch_due_ns) {
		check_exe(s);
		if (s->n_leaders)
			begin_turn(s);
	}
}

static void step(struct anchors *s)
{
	switch (s->state) {
	case IDLE:
		be_idle(s);
		break;
	case BEFORE:
		if (!is_near_over(s))
			break;
		anchor_meters_tell_near(&s->meters, s->n_windows, true);
		ask_to_be_alone(s);
		break;
	case ALONE:
		begin_window(s);
		break;
	case COUNTING:
		if (is_window_over(s))
			end_window(s);
		break;
	case RESUMING:
		begin_near(s, BEHIND);
		break;
	case BEHIND:
		if (!is_near_over(s))
			break;
		anchor_meters_tell_near(&s->meters, s->n_windows - 1, false);
		s->state = IDLE;
		break;
	case WATCHING:
		end_turn(s);
		break;
	}
}

/* What a window takes of our own time is told with it. */
static void step_and_tell(struct anchors *s)
{
	bool is_window = s->state == ALONE || s->state == COUNTING;
	uint64_t own_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	step(s);
	if (!is_window)
		s->spent_ns += clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - own_ns;
}

static uint64_t idle_ns(const struct anchors *s)
{
	uint64_t left = s->window_due_ns > s->cpu_ns ? s->window_due_ns - s->cpu_ns : 0;

	if (s->n_leaders && !are_metered(s))
		return IDLE_TURNS_NS;
	left = left > IDLE_LEAST_NS ? left : IDLE_LEAST_NS;
	return left < IDLE_MOST_NS ? left : IDLE_MOST_NS;
}

static int anchors_drain(struct source *source, bool is_final, struct err *e)
{
	struct anchors *s = (struct anchors *)source;
	const uint64_t next_ns[] = {
		[IDLE] = idle_ns(s),	  [BEFORE] = LOOK_NS, [ALONE] = 1,
		[COUNTING] = LOOK_NS,	  [RESUMING] = 1,     [BEHIND] = LOOK_NS,
		[WATCHING] = s->watch_ns,
	};
	uint64_t n;

	(void)e;
	count_late_let_go();
	if (!is_final && read(s->timer, &n, sizeof(n)) != sizeof(n))
		return 0;
	s->cpu_ns = cpu_of(s);
	if (!is_final) {
		step_and_tell(s);
		wake_in(s, next_ns[s->state]);
	} else if (s->state == WATCHING) {
		end_turn(s);
	}
	if (is_final) {
		anchor_meters_tell(&s->meters, s->n_windows);
		tell_time(s);
		tell_turns(s);
		tell_steps(s);
	}
	return 0;
}

static void anchors_pause(struct source *source, bool is_paused)
{
	(void)source;
	(void)is_paused;
}

static void anchors_stop(struct source *source)
{
	struct anchors *s = (struct anchors *)source;
	struct err why;

	if (s->state == COUNTING)
		end_window(s);
	anchor_meters_tell(&s->meters, s->n_windows);
	if (anchor_meters_end(&s->meters, &why) < 0)
		s->why_kept = why;
}

static void anchors_finish(struct source *source, struct source_stats *ret)
{
	struct anchors *s = (struct anchors *)source;
	struct writer *w = s->context.writer;

	facts_add(w, FACT_RATE, "windows", "count", s->n_windows);
	facts_add(w, FACT_RATE, "windows-cost", "ns", s->spent_ns + s->meters.spent_ns);
	if (s->visits.n_kept)
		facts_loss(w, "still-counted", s->visits.n_kept);
	if (s->n_refused)
		writer_info(w, "anchors-refused", s->refusal.text);
	*ret = (struct source_stats){ .trouble = s->visits.n_kept ? s->visits.why_kept
								  : s->why_kept };
}

const struct source_ops anchors_source = {
	.name = "anchors",
	.summary = "exact counts now and then, as anchors for what is sampled",
	.sums = true,
	.probe = anchors_probe,
	.range = anchors_range,
	.how = anchors_how,
	.open = anchors_open,
	.start = anchors_start,
	.fds = anchors_fds,
	.drain = anchors_drain,
	.pause = anchors_pause,
	.stop = anchors_stop,
	.finish = anchors_finish,
	.free = anchors_free,
};
