/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_process.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "host/clock.h"
#include "host/procfs.h"

#define METERED_PART 0.9 /* of the budget, for windows where there are counters */

static uint64_t now_ns(const struct anchor_process *p)
{
	struct timespec t;

	if (clock_gettime(p->clock, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Of a process that runs the clock is milliseconds old. */
static void look(void *process, const struct count_stand *stand, bool is_left)
{
	struct anchor_process *p = process;
	uint64_t ns = now_ns(p);

	if (!is_left && p->watching.n_turns == p->n_turns_before && ns > p->left_ns)
		p->gap_ns = ns - p->left_ns;
	anchor_steps_look(&p->steps, stand, is_left);
}

/* Only then its clock is exact.  Engines may come twice, if the first cannot stay. */
static void note_moment(void *process, enum count_moment moment)
{
	struct anchor_process *p = process;

	if (moment != COUNT_MOMENT_NATIVE || !p->stood_ns[moment])
		p->stood_ns[moment] = now_ns(p);
}

int anchor_process_new(const struct anchor_process_setting *setting, pid_t pid,
		       struct anchor_process **ret, struct err *e)
{
	own(anchor_process_freep) struct anchor_process *p = xcalloc(1, sizeof(*p));

	p->setting = setting;
	p->pid = pid;
	errno = clock_getcpuclockid(pid, &p->clock);
	if (errno)
		return err_os(e, "cannot tell the CPU time of process %d", pid);
	p->record = (struct anchor_record){ .tracker = setting->tracker,
					    .writer = setting->writer,
					    .pid = (uint32_t)pid,
					    .process = MODEL_NONE };
	p->meters = (struct anchor_meters){ .record = &p->record,
					    .counters = { .pid = pid },
					    .clock = p->clock,
					    .budget = setting->budget,
					    .heirs = setting->heirs,
					    .hit_ns = setting->counter_ns };
	p->watching = anchor_watching_of();
	p->look = (struct count_look){ look, note_moment, p };
	*ret = steal(&p);
	return 0;
}

void anchor_process_free(struct anchor_process *p)
{
	if (!p)
		return;
	anchor_watching_fini(&p->watching);
	anchor_steps_fini(&p->steps);
	anchor_meters_fini(&p->meters);
	anchor_record_fini(&p->record);
	count_live_fini(&p->live);
	free(p->exe);
	free(p);
}

void anchor_process_freep(struct anchor_process **p)
{
	anchor_process_free(*p);
}

/* What happens natively is told already. */
static bool is_metered(const struct anchor_process *p)
{
	return anchor_meters_are(&p->meters) || p->steps.are_there;
}

bool anchor_process_is_watched(const struct anchor_process *p)
{
	return p->watching.n_leaders && !p->is_kept && !is_metered(p);
}

static void tell_steps(struct anchor_process *p)
{
	anchor_steps_sift(&p->steps);
	vec_each(x, &p->steps.gaps)
		anchor_record_watched(&p->record, x->window, x->walk.addr, x->times,
				      x->cpu_ns);
	anchor_steps_forget(&p->steps);
}

void anchor_process_tell_time(struct anchor_process *p, uint32_t next)
{
	if (p->is_kept) {
		p->told_ns = p->cpu_ns;
		p->unseen_ns = 0;
	}
	if (p->record.process == MODEL_NONE || p->cpu_ns <= p->told_ns)
		return;
	anchor_record_passed(&p->record, next, p->cpu_ns - p->told_ns, p->unseen_ns);
	p->told_ns = p->cpu_ns;
	p->unseen_ns = 0;
}

/* Nothing of what was known is there. */
static void forget(struct anchor_process *p)
{
	anchor_watching_tell(&p->watching, &p->record);
	tell_steps(p);
	p->watching.n_leaders = 0;
	anchor_meters_check(&p->meters);
	anchor_record_forget(&p->record);
	p->speed = (struct anchor_speed){ 0 };
}

/* Until about now it was what it was. */
static void become(struct anchor_process *p, uint32_t id, uint32_t next)
{
	if (p->record.process != MODEL_NONE) {
		anchor_process_tell_time(p, next);
		forget(p);
		freep(&p->exe);
		p->exe = NULL;
		p->n_refused = 0;
	}
	p->record.process = id;
}

static void become_if_new(struct anchor_process *p, uint32_t id, uint32_t next)
{
	if (id != p->record.process && id != MODEL_NONE)
		become(p, id, next);
}

static void check_program(struct anchor_process *p, uint32_t next)
{
	become_if_new(p, tracker_process_id(p->setting->tracker, (uint32_t)p->pid), next);
}

bool anchor_process_look(struct anchor_process *p, uint32_t next)
{
	uint64_t before_ns = p->cpu_ns, ns = now_ns(p);

	if (!ns)
		return false;
	p->cpu_ns = ns;
	if (p->cpu_ns < before_ns)
		return false; /* its id is another's by now */
	p->setting->budget->cpu_ns += p->cpu_ns - before_ns;
	if (!p->is_apart)
		check_program(p, next);
	return true;
}

/* Its file may have been given another name, or none, and then the counters are there. */
void anchor_process_check(struct anchor_process *p)
{
	char exe[PATH_MAX] = "";

	if (procfs_exe(p->pid, exe, sizeof(exe), NULL) < 0 ||
	    (p->exe && !strcmp(exe, p->exe)))
		return;
	free(p->exe);
	p->exe = xstrdup(exe);
	forget(p);
}

void anchor_process_begin_unseen(struct anchor_process *p, uint32_t next)
{
	if (anchor_process_look(p, next))
		p->unseen_from_ns = p->cpu_ns;
}

void anchor_process_end_unseen(struct anchor_process *p, uint32_t next)
{
	if (p->unseen_from_ns && anchor_process_look(p, next))
		p->unseen_ns += p->cpu_ns - p->unseen_from_ns;
	p->unseen_from_ns = 0;
}

void anchor_process_begin(struct anchor_process *p, uint32_t window)
{
	p->gap_ns = 0;
	p->paused_ns = 0;
	p->is_apart = true;
	memset(p->stood_ns, 0, sizeof(p->stood_ns));
	anchor_steps_begin(&p->steps);
	anchor_meters_tell(&p->meters, window);
}

void anchor_process_keep(struct anchor_process *p, uint32_t window)
{
	p->is_kept = p->is_open = true;
	p->window = window;
}

void anchor_process_hold(struct anchor_process *p)
{
	p->is_kept = p->is_apart = true;
}

void anchor_process_release(struct anchor_process *p, uint32_t next)
{
	anchor_process_look(p, next);
	anchor_process_tell_time(p, next);
	anchor_process_tell_meters(p, next);
	p->is_kept = false;
	p->is_apart = p->is_paused;
}

uint64_t anchor_process_open_ns(const struct anchor_process *p)
{
	uint64_t to_ns = p->stood_ns[COUNT_MOMENT_AWAY],
		 but_ns = p->stood_ns[COUNT_MOMENT_NATIVE] + p->paused_ns;

	if (p->is_paused && to_ns > p->paused_from_ns)
		but_ns += to_ns - p->paused_from_ns;
	return to_ns > but_ns ? to_ns - but_ns : 0;
}

void anchor_process_refuse(struct anchor_process *p)
{
	p->is_apart = false;
	p->n_refused++;
}

/* In translation. */
static uint64_t counted_ns(const struct anchor_process *p)
{
	uint64_t from_ns = p->stood_ns[COUNT_MOMENT_TRANSLATED],
		 to_ns = p->stood_ns[COUNT_MOMENT_AWAY];

	return from_ns && to_ns > from_ns ? to_ns - from_ns : 0;
}

/* What it was then, or what it is known to be: what executed that may be told since, and
 * what it executes by now is another one. */
static uint32_t program_at(const struct anchor_process *p, uint64_t time_ns)
{
	uint32_t id = tracker_process_id(p->setting->tracker, (uint32_t)p->pid);

	while (id != MODEL_NONE && id != p->record.process) {
		const struct model_process *x =
			writer_process_get(p->setting->writer, id);

		if (x->start_ns <= time_ns)
			break;
		id = x->exec_of;
	}
	return id;
}

void anchor_process_take(struct anchor_process *p, uint32_t window,
			 const struct count_window *w, bool is_to_go_on)
{
	bool is_read = count_live_read(&p->live, w, NULL) == 0 &&
		       p->live.pid == (uint32_t)p->pid;

	if (is_read) {
		become_if_new(p, program_at(p, p->live.there.id.time_ns), window);
		anchor_record_window(&p->record, window, clock_monotonic_ns(),
				     counted_ns(p), &p->live);
	}
	if (!is_to_go_on)
		count_live_fini(&p->live);
}

/* What it was supposed to be before it was known. */
static void mend_cost(struct anchor_process *p)
{
	int64_t less_ns = (int64_t)anchor_speed_mend(&p->speed);

	p->setting->budget->spent_ns -= (uint64_t)less_ns;
}

uint64_t anchor_process_native_ns(struct anchor_process *p)
{
	double counted = (double)counted_ns(p), n_insns = anchor_record_insns(&p->record),
	       told_ns = anchor_meters_window_ns(&p->meters);

	if (told_ns > 0)
		anchor_speed_add(&p->speed, n_insns, fmin(told_ns, counted));
	mend_cost(p);
	return anchor_speed_take(&p->speed, counted, n_insns);
}

static void choose_leaders(struct anchor_process *p, uint64_t cpu_ns)
{
	struct anchor_watching *w = &p->watching;
	size_t n;

	anchor_meters_choose(&p->meters, cpu_ns);
	if (w->n_leaders || is_metered(p))
		return;
	n = anchor_choice_make(p->record.blocks.at, p->record.blocks.n, cpu_ns,
			       w->leaders);
	/* Without breakpoints there are windows all the same. */
	if (n)
		w->hit_ns = anchor_watch_cost_ns(p->setting->watch_cost);
	w->n_leaders = w->hit_ns ? n : 0;
	w->due_ns = p->cpu_ns;
}

void anchor_process_end(struct anchor_process *p, uint32_t window, uint64_t cpu_ns)
{
	anchor_steps_end(&p->steps,
			 &(struct anchor_steps_window){ .number = window,
							.gap_ns = p->gap_ns,
							.cpu_ns = cpu_ns,
							.blocks = p->record.blocks.at,
							.n = p->record.blocks.n });
	p->n_turns_before = p->watching.n_turns;
	p->is_kept = p->is_open = false;
	p->is_apart = p->is_paused;
	if (!p->is_apart)
		check_program(p, window + 1);
	choose_leaders(p, cpu_ns);
}

double anchor_process_windows_part(const struct anchor_process *p)
{
	return is_metered(p) ? METERED_PART : 1 - ANCHOR_WATCHING_PART;
}

void anchor_process_tell_meters(struct anchor_process *p, uint32_t next)
{
	if (p->is_kept)
		anchor_meters_begin(&p->meters);
	else
		anchor_meters_tell(&p->meters, next);
}

/* What places have become in a pause is not what happened between two windows. */
void anchor_process_pause(struct anchor_process *p, uint32_t next)
{
	anchor_process_tell_meters(p, next);
	anchor_process_tell_time(p, next);
	tell_steps(p);
	p->is_apart = p->is_paused = true;
	p->paused_from_ns = p->cpu_ns;
}

void anchor_process_resume(struct anchor_process *p, uint32_t next)
{
	p->told_ns = p->cpu_ns;
	if (p->is_paused && p->cpu_ns > p->paused_from_ns)
		p->paused_ns += p->cpu_ns - p->paused_from_ns;
	p->is_paused = false;
	p->is_apart = p->is_kept;
	if (!p->is_apart)
		check_program(p, next);
	anchor_meters_begin(&p->meters);
}

void anchor_process_tell(struct anchor_process *p, uint32_t next)
{
	anchor_process_tell_meters(p, next);
	anchor_process_tell_time(p, next);
	anchor_watching_tell(&p->watching, &p->record);
	tell_steps(p);
}
