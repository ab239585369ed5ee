/* SPDX-License-Identifier: Apache-2.0
 *
 * anchors_source - exact counts of a running program now and then.
 *
 * In windows of some milliseconds the counting engine comes to a process and goes again
 * (collect/count_attach): how often each block was executed there is exact, but beside
 * each other only, for nobody knows how much of the program's work that was.  What tells
 * how much is known of the process (collect/anchor_process).  All of it costs something;
 * windows and turns come as often as the budget allows, at times that are chosen by
 * chance.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/anchor_budget.h"
#include "collect/anchor_cost.h"
#include "collect/anchor_files.h"
#include "collect/anchor_processes.h"
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
/* Looking more often would cost more than most counters. */
#define IDLE_LEAST_NS 2000000u
#define IDLE_MOST_NS  20000000u
#define IDLE_TURNS_NS 5000000u	/* where there are turns between windows */
#define NEAR_NS	      20000000u /* of CPU time, before and behind a window */
#define NEAR_WALL_NS  500000000u
#define HARDLY	      8		/* of the time: who runs less than one in so many */
#define KEPT_NS	      20000000u /* looks at what could not be left, at most */
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
	struct anchor_files files;
	struct count_visits visits;
	struct anchor_budget budget;
	struct anchor_watch_cost watch_cost;
	struct anchor_process_setting setting;
	struct anchor_processes processes;
	struct anchor_process *process; /* whose turn it is; NULL when idle */
	bool is_gone;			/* it has ended */
	int timer;
	bool is_started;
	enum state state;
	uint32_t n_windows; /* that have a number ... */
	uint32_t n_open;    /* ... but could not be ended yet */
	struct err refusal;
	struct err why_kept; /* the counters, at the end */
	uint64_t began_ns;   /* wall time of a window, or of a moment near one */
	uint64_t begin_cpu_ns;
	/* Of our own CPU time: until then it is spent, and what of it was so by this
	 * window. */
	uint64_t charged_ns, window_own_ns;
	uint64_t begin_all_ns; /* CPU time of all by then */
	uint64_t look_cost_ns; /* of the last look that found nothing to do, our own */
	/* When it was asked last how long to be idle, and the CPU time of all by then. */
	uint64_t idle_ns, idle_cpu_ns;
};

/* The others are left alone. */
static int check_any(const struct scope *scope, struct err *e)
{
	struct count_status status;
	int rc = 0;

	for (size_t i = 0; i < scope->n_pids; i++) {
		rc = count_status_check(scope->pids[i], &status, e);
		if (rc == 0)
			break;
	}
	return rc;
}

static int anchors_probe(const struct experiment *x, const struct scope *scope,
			 struct err *e)
{
	if (x->trigger != EXPERIMENT_ANCHORS)
		return err_set(e, ERR_UNSUPPORTED, "it feeds anchors only");
	if (!count_program_size)
		return err_set(e, ERR_UNSUPPORTED,
			       "programs are run in translation on x86-64 only");
	if (scope->kind == SCOPE_PROCESSES && scope->n_pids)
		return check_any(scope, e);
	if (scope->kind != SCOPE_LAUNCH && scope->kind != SCOPE_PROCESSES)
		return err_set(
			e, ERR_UNSUPPORTED,
			"processes are counted now and then, not all of a machine: "
			"'dwell run', or 'dwell attach -p PID'");
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

	count_visits_end(&s->visits);
	count_directory_remove(&s->files.directory, s->visits.n_kept);
	count_visits_fini(&s->visits);
	anchor_processes_fini(&s->processes);
	closep(&s->timer);
	free(s);
}

static double part_of(const struct source_context *c)
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
	s->visits.lets_rest = true;
	s->context = *c;
	s->budget = anchor_budget_of(part_of(c));
	s->setting = (struct anchor_process_setting){
		.tracker = c->tracker,
		.writer = c->writer,
		.budget = &s->budget,
		.heirs = &s->processes.heirs,
		.counter_ns = anchor_cost_hit_ns(),
		.watch_cost = &s->watch_cost,
	};
	s->processes.setting = &s->setting;
	s->files.resting = &s->visits.resting;
	s->files.processes = &s->processes;
	s->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->timer < 0) {
		anchors_free(&s->base);
		return err_os(e, "cannot have a timer");
	}
	*ret = &s->base;
	return 0;
}

static void wake_in(const struct anchors *s, uint64_t ns)
{
	struct itimerspec t = { .it_value = { .tv_nsec = (long)ns } };

	timerfd_settime(s->timer, 0, &t, NULL);
}

static bool is_wanted(const struct anchors *s, pid_t pid)
{
	bool is_followed = true;

	return !tracker_knows(s->context.tracker, (uint32_t)pid, &is_followed) ||
	       is_followed;
}

static int add_with_children(struct anchors *s, pid_t pid, struct err *e)
{
	own(procfs_ids_fini) struct procfs_ids below = { 0 };
	int rc = anchor_processes_add(&s->processes, pid, e);

	if (rc < 0 || !s->context.scope->follow_children)
		return rc;
	/* Who has ended meanwhile is none. */
	if (procfs_descendants(pid, &below, NULL) == 0)
		vec_each(child, &below.ids)
			if (is_wanted(s, *child) &&
			    anchor_processes_add(&s->processes, *child, NULL) < 0)
				continue;
	return 0;
}

static int anchors_start(struct source *source, pid_t pid, struct err *e)
{
	struct anchors *s = (struct anchors *)source;
	const struct scope *scope = s->context.scope;
	int rc = pid ? anchor_processes_add(&s->processes, pid, e) : 0;

	for (size_t i = 0; !pid && i < scope->n_pids && rc == 0; i++)
		rc = add_with_children(s, scope->pids[i], e);
	if (rc < 0)
		return rc;
	s->is_started = true;
	anchor_budget_plan(&s->budget, WINDOW_COST_NS, 1);
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

/* Near windows. */

static void begin_near(struct anchors *s, enum state state)
{
	anchor_meters_begin_near(&s->process->meters);
	s->begin_cpu_ns = s->process->cpu_ns;
	s->begin_all_ns = s->budget.cpu_ns;
	s->visits.look = &s->process->look;
	s->began_ns = clock_monotonic_ns();
	s->state = state;
}

static uint64_t near_cpu_ns(const struct anchors *s)
{
	return s->process->cpu_ns - s->begin_cpu_ns;
}

static bool is_near_over(const struct anchors *s)
{
	return near_cpu_ns(s) >= NEAR_NS ||
	       clock_monotonic_ns() - s->began_ns >= NEAR_WALL_NS;
}

/* It has ended, is found to be kept, or waits for others that run: a driver for its
 * compiler, say.  Others are looked for only if it hardly runs, for that costs something.
 */
static bool is_others_turn(struct anchors *s)
{
	uint64_t wall_ns = clock_monotonic_ns() - s->began_ns;

	if (s->is_gone || s->process->is_kept)
		return true;
	if (wall_ns < NEAR_NS || near_cpu_ns(s) >= wall_ns / HARDLY)
		return false;
	anchor_processes_look(&s->processes, s->process, s->n_windows);
	return s->budget.cpu_ns - s->begin_all_ns >= near_cpu_ns(s) + NEAR_NS;
}

/* Where nothing is read there is nothing to wait for but the window's own moment. */
static bool is_before_over(const struct anchors *s)
{
	return is_near_over(s) ||
	       (!s->process->meters.is_near && s->budget.cpu_ns >= s->budget.due_ns);
}

static void ask_to_be_alone(struct anchors *s)
{
	s->base.wants_alone = true;
	s->state = ALONE;
	anchor_processes_begin_unseen(&s->processes, s->process, s->n_windows);
}

/* Windows. */

static int come(struct anchors *s, struct err *e)
{
	char flags[COUNT_FLAGS_MAX];
	pid_t pid = s->process->pid;
	int rc = anchor_files_prepare(&s->files, pid, e);

	count_orders_make(s->context.scope, flags);
	return rc < 0 ? rc
		      : count_visits_begin(&s->visits, pid, &s->files.directory, flags,
					   e);
}

static void be_idle(struct anchors *s)
{
	s->process = NULL;
	s->state = IDLE;
}

/* Somebody else has the window, which is due still. */
static void pass_over(struct anchors *s)
{
	anchor_meters_end_near(&s->process->meters);
	be_idle(s);
}

/* What others of us do while a window is open is none of its. */
static void charge_own(struct anchors *s)
{
	uint64_t now_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	s->budget.spent_ns += now_ns - s->charged_ns;
	s->window_own_ns += now_ns - s->charged_ns;
	s->charged_ns = now_ns;
}

static void be_refused(struct anchors *s, const struct err *why)
{
	if (!s->refusal.code)
		s->refusal = *why;
	anchor_process_refuse(s->process);
	anchor_meters_end_near(&s->process->meters);
	s->base.wants_alone = false;
	anchor_processes_end_unseen(&s->processes, s->n_windows);
	be_idle(s);
	charge_own(s);
	anchor_budget_plan(&s->budget, WINDOW_COST_NS, 1);
}

static void begin_window(struct anchors *s)
{
	struct err why = { 0 };

	/* Of all: a window stands for the time that its program took around it. */
	anchor_processes_tell_time(&s->processes, s->n_windows);
	anchor_process_begin(s->process, s->n_windows);
	s->window_own_ns = 0;
	s->begin_cpu_ns = s->process->cpu_ns;
	if (come(s, &why) < 0) {
		be_refused(s, &why);
		return;
	}
	s->began_ns = clock_monotonic_ns();
	s->state = COUNTING;
}

/* Of who has ended right behind the beginning nothing later than that is known. */
static uint64_t beyond(uint64_t ns, uint64_t least_ns)
{
	return ns > least_ns ? ns - least_ns : 0;
}

/* Whose window is open; 0: nobody's. */
static pid_t counted(const struct anchors *s)
{
	return s->state == COUNTING ? s->process->pid : 0;
}

/* All that it has is there, and what was counted and its time are of the same moment.
 * How long it took natively, about. */
static uint64_t take_counted(struct anchors *s, struct anchor_process *p, uint32_t window)
{
	anchor_meters_begin(&p->meters);
	anchor_process_look(p, s->n_windows);
	p->told_ns = p->left_ns = p->cpu_ns;
	p->n_refused = 0;
	anchor_files_take(&s->files, p, window, counted(s));
	return anchor_process_native_ns(p);
}

static void take_window(struct anchors *s)
{
	struct anchor_process *p = s->process;
	uint64_t native_ns = take_counted(s, p, s->n_windows), cost_ns;

	cost_ns = beyond(beyond(p->cpu_ns, p->stood_ns[COUNT_MOMENT_NATIVE]), native_ns);
	anchor_process_end(p, s->n_windows, native_ns);
	anchor_processes_end_unseen(&s->processes, s->n_windows);
	s->n_windows++;
	charge_own(s);
	s->budget.spent_ns += cost_ns;
	anchor_budget_plan(&s->budget, cost_ns + s->window_own_ns,
			   anchor_process_windows_part(p));
	s->base.wants_alone = false;
	s->state = RESUMING;
}

/* Windows that could not be ended when they were to be. */

/* It goes on counting: what it has would not be all, nor of one moment.  Neither others
 * nor their windows are to wait for it. */
static void keep_window(struct anchors *s)
{
	struct anchor_process *p = s->process;

	anchor_process_keep(p, s->n_windows++);
	s->n_open++;
	anchor_meters_end_near(&p->meters);
	anchor_processes_end_unseen(&s->processes, s->n_windows);
	s->base.wants_alone = false;
	charge_own(s);
	anchor_budget_plan(&s->budget, WINDOW_COST_NS + s->window_own_ns,
			   anchor_process_windows_part(p));
	be_idle(s);
}

static void end_window(struct anchors *s)
{
	struct anchor_process *p = s->process;

	anchor_process_look(p, s->n_windows);
	p->stood_ns[COUNT_MOMENT_AWAY] = p->cpu_ns; /* unless it stands then */
	count_visits_end(&s->visits);
	if (count_visits_kept(&s->visits, p->pid))
		keep_window(s);
	else
		take_window(s);
	anchor_processes_hold(&s->processes, &s->visits);
}

/* Where others have a window, what comes next is planned when that ends. */
static void take_kept(struct anchors *s, struct anchor_process *p)
{
	uint64_t native_ns = take_counted(s, p, p->window),
		 cost_ns = beyond(anchor_process_open_ns(p), native_ns);

	p->unseen_ns = 0;
	p->unseen_from_ns = p->unseen_from_ns ? p->cpu_ns : 0;
	anchor_process_end(p, p->window, native_ns);
	s->n_open--;
	s->budget.spent_ns += cost_ns;
	if (s->state == IDLE)
		anchor_budget_plan(&s->budget, WINDOW_COST_NS,
				   anchor_process_windows_part(p));
}

static void try_kept(struct anchors *s, enum count_visits_try how)
{
	uint64_t so_far_ns = s->budget.cpu_ns;

	if (!s->visits.kept.n)
		return;
	anchor_processes_look_at_kept(&s->processes, &s->visits, s->n_windows);
	count_visits_try_kept(&s->visits, how);
	vec_each(p, &s->processes.at) {
		if (!(*p)->is_kept || count_visits_kept(&s->visits, (*p)->pid))
			continue;
		if ((*p)->is_open)
			take_kept(s, *p);
		else
			anchor_process_release(*p, s->n_windows);
	}
	anchor_processes_hold(&s->processes, &s->visits);
	if (s->base.rests)
		s->budget.cpu_ns = so_far_ns;
}

static enum count_visits_try how_to_try(const struct anchors *s)
{
	bool is_alone = s->state == ALONE || s->state == COUNTING;

	return is_alone ? COUNT_VISITS_LOOK : COUNT_VISITS_TRY;
}

static bool is_window_over(const struct anchors *s)
{
	return s->is_gone || count_visits_are_awaited(&s->visits) ||
	       beyond(s->process->cpu_ns, s->begin_cpu_ns) >= WINDOW_CPU_NS ||
	       clock_monotonic_ns() - s->began_ns >= WINDOW_WALL_NS;
}

/* Running. */

/* The time before it, that is, so that it comes at the moment that was planned. */
static bool is_due(const struct anchors *s)
{
	return s->budget.cpu_ns + NEAR_NS >= s->budget.due_ns;
}

static void look_for_work(struct anchors *s)
{
	bool is_new = anchor_processes_look(&s->processes, NULL, s->n_windows);
	struct anchor_process *p = NULL;

	anchor_processes_hold(&s->processes, &s->visits);
	count_resting_check(&s->visits.resting);

	anchor_processes_look_at_meters(&s->processes, s->n_windows);
	if (is_due(s) && is_new)
		p = anchor_processes_choose(&s->processes);
	if (p) {
		s->process = p;
		anchor_process_check(p);
		begin_near(s, BEFORE);
		return;
	}
	p = anchor_processes_turn(&s->processes);
	if (!p)
		return;
	anchor_process_check(p);
	if (p->watching.n_leaders &&
	    anchor_watching_begin(&p->watching, p->pid, p->cpu_ns, &s->budget)) {
		s->process = p;
		s->state = WATCHING;
	}
}

static void end_turn(struct anchors *s)
{
	struct anchor_process *p = s->process;

	anchor_watching_end(&p->watching, s->n_windows, p->cpu_ns, &s->budget);
	be_idle(s);
}

/* A window that has not begun is due still. */
static void end_step(struct anchors *s)
{
	if (s->state == WATCHING) {
		end_turn(s);
		return;
	}
	if (s->state == ALONE) {
		s->base.wants_alone = false;
		anchor_processes_end_unseen(&s->processes, s->n_windows);
	}
	if (s->state == COUNTING)
		end_window(s);
	if (s->process)
		pass_over(s);
}

static void step(struct anchors *s)
{
	switch (s->state) {
	case IDLE:
		look_for_work(s);
		break;
	case BEFORE:
		if (is_others_turn(s)) {
			pass_over(s);
			break;
		}
		if (!is_before_over(s))
			break;
		anchor_meters_tell_near(&s->process->meters, s->n_windows, true);
		ask_to_be_alone(s);
		break;
	case ALONE:
		if (s->process->is_kept)
			end_step(s);
		else
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
		if (!is_near_over(s) && !is_others_turn(s))
			break;
		anchor_meters_tell_near(&s->process->meters, s->n_windows - 1, false);
		be_idle(s);
		break;
	case WATCHING:
		end_turn(s);
		break;
	}
}

static void step_and_tell(struct anchors *s)
{
	bool was_idle;
	uint64_t own_ns;

	s->charged_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	try_kept(s, how_to_try(s));
	charge_own(s);
	was_idle = s->state == IDLE;
	own_ns = s->charged_ns;
	step(s);
	charge_own(s);
	if (was_idle && s->state == IDLE)
		s->look_cost_ns = s->charged_ns - own_ns;
}

/* In which so much CPU time of all passes, as it did lately: one runs at least. */
static uint64_t wall_of(struct anchors *s, uint64_t cpu_ns)
{
	uint64_t now_ns = clock_monotonic_ns();
	double wall_ns = (double)(now_ns - s->idle_ns),
	       cpus = (double)(s->budget.cpu_ns - s->idle_cpu_ns) / (wall_ns + 1);

	s->idle_ns = now_ns;
	s->idle_cpu_ns = s->budget.cpu_ns;
	return cpus > 1 ? (uint64_t)((double)cpu_ns / cpus) : cpu_ns;
}

static uint64_t idle_ns(struct anchors *s)
{
	const struct anchor_budget *b = &s->budget;
	uint64_t soon_ns = b->cpu_ns + NEAR_NS,
		 left = b->due_ns > soon_ns ? b->due_ns - soon_ns : 0,
		 age_ns = clock_monotonic_ns() - s->processes.came_ns,
		 most = anchor_budget_look_ns(b, s->look_cost_ns, age_ns);

	left = wall_of(s, left);
	if (!s->processes.at.n)
		return IDLE_MOST_NS;
	if (anchor_processes_are_watched(&s->processes))
		return IDLE_TURNS_NS;
	left = left > IDLE_LEAST_NS ? left : IDLE_LEAST_NS;
	return left < most ? left : most;
}

static uint64_t next_ns(struct anchors *s)
{
	const uint64_t ns[] = {
		[BEFORE] = LOOK_NS,
		[ALONE] = 1,
		[COUNTING] = LOOK_NS,
		[RESUMING] = 1,
		[BEHIND] = LOOK_NS,
		[WATCHING] = s->process ? s->process->watching.watch_ns : 0,
	};
	uint64_t ret = s->state == IDLE ? idle_ns(s) : ns[s->state];

	return s->visits.kept.n && ret > KEPT_NS ? KEPT_NS : ret;
}

static void tell_all(struct anchors *s)
{
	if (s->state == WATCHING)
		end_turn(s);
	if (s->base.rests) {
		anchor_processes_resume(&s->processes, s->n_windows);
	} else {
		s->processes.look_due_ns = 0;
		anchor_processes_look(&s->processes, NULL, s->n_windows);
	}
	anchor_processes_tell(&s->processes, s->n_windows);
}

/* What is kept need not be so until the pause is over. */
static void rest(struct anchors *s)
{
	s->charged_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	try_kept(s, COUNT_VISITS_TRY);
	charge_own(s);
	if (s->visits.kept.n)
		wake_in(s, KEPT_NS);
}

/* Also when all that there was have ended: others may have been begun by them. */
static int anchors_drain(struct source *source, bool is_final, struct err *e)
{
	struct anchors *s = (struct anchors *)source;
	uint64_t n;

	(void)e;
	count_late_let_go();
	if (!s->is_started)
		return 0;
	if (is_final) {
		tell_all(s);
		return 0;
	}
	if (read(s->timer, &n, sizeof(n)) != sizeof(n))
		return 0;
	if (s->base.rests) {
		rest(s);
		return 0;
	}
	s->is_gone = s->process && !anchor_process_look(s->process, s->n_windows);
	step_and_tell(s);
	wake_in(s, next_ns(s));
	return 0;
}

static void anchors_pause(struct source *source, bool is_paused)
{
	struct anchors *s = (struct anchors *)source;

	if (!s->is_started)
		return;
	if (is_paused) {
		s->charged_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
		end_step(s);
		anchor_processes_pause(&s->processes, s->n_windows);
		if (s->visits.kept.n)
			wake_in(s, KEPT_NS);
		return;
	}
	anchor_processes_resume(&s->processes, s->n_windows);
	wake_in(s, IDLE_LEAST_NS);
}

static void anchors_stop(struct source *source)
{
	struct anchors *s = (struct anchors *)source;
	struct err why;

	s->charged_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	if (s->state == COUNTING)
		end_window(s);
	try_kept(s, COUNT_VISITS_LAST);
	charge_own(s);
	count_resting_end(&s->visits.resting);
	if (anchor_processes_end(&s->processes, s->n_windows, &why) < 0)
		s->why_kept = why;
}

static void anchors_finish(struct source *source, struct source_stats *ret)
{
	struct anchors *s = (struct anchors *)source;
	struct writer *w = s->context.writer;

	facts_add(w, FACT_RATE, "windows", "count", s->n_windows - s->n_open);
	facts_add(w, FACT_RATE, "windows-cost", "ns", s->budget.spent_ns);
	if (s->visits.n_kept)
		facts_loss(w, "still-counted", s->visits.n_kept);
	if (s->refusal.code)
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
