/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_processes.h"

#include <time.h>

#include "collect/count_detach.h"
#include "collect/count_late.h"
#include "collect/count_visits.h"
#include "collect/tracker.h"
#include "host/clock.h"

#define REFUSALS_MAX 3
/* Between two looks, times what the last one took. */
#define LOOK_COSTS 200u

void anchor_processes_fini(struct anchor_processes *a)
{
	vec_each(p, &a->at)
		anchor_process_free(*p);
	vec_fini(&a->at);
	anchor_heirs_fini(&a->heirs);
}

static bool has(const struct anchor_processes *a, pid_t pid)
{
	vec_each(p, &a->at)
		if ((*p)->pid == pid)
			return true;
	return false;
}

static void put(struct anchor_processes *a, struct anchor_process *p)
{
	*vec_push(&a->at) = p;
	a->came_ns = clock_monotonic_ns();
}

int anchor_processes_add(struct anchor_processes *a, pid_t pid, struct err *e)
{
	uint64_t so_far_ns = a->setting->budget->cpu_ns;
	struct anchor_process *p;
	int rc = has(a, pid) ? 0 : anchor_process_new(a->setting, pid, &p, e);

	if (rc < 0 || has(a, pid))
		return rc;
	anchor_process_look(p, 0);
	p->told_ns = p->looked_ns = p->cpu_ns;
	a->setting->budget->cpu_ns = so_far_ns;
	put(a, p);
	return 0;
}

/* Looking. */

static void take_child(void *ctx, uint32_t pid, uint32_t id)
{
	struct anchor_processes *a = ctx;
	struct anchor_process *new;

	(void)id;
	if (has(a, (pid_t)pid) ||
	    anchor_process_new(a->setting, (pid_t)pid, &new, NULL) < 0)
		return;
	vec_each(p, &a->at)
		anchor_meters_inherit(&new->meters, &(*p)->meters);
	put(a, new);
}

static void look_at_each(struct anchor_processes *a, const struct anchor_process *kept,
			 uint32_t next)
{
	for (size_t i = 0; i < a->at.n;) {
		struct anchor_process *p = a->at.at[i];

		if (anchor_process_look(p, next) || p == kept || p->is_kept) {
			p->ran_ns = p->cpu_ns - p->looked_ns;
			p->looked_ns = p->cpu_ns;
			i++;
			continue;
		}
		a->at.at[i] = a->at.at[--a->at.n];
		anchor_process_tell(p, next);
		anchor_process_free(p);
	}
}

bool anchor_processes_look(struct anchor_processes *a, const struct anchor_process *kept,
			   uint32_t next)
{
	uint64_t now_ns = clock_monotonic_ns(), own_ns;

	if (now_ns < a->look_due_ns)
		return false;
	own_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	tracker_each_running(a->setting->tracker, take_child, a);
	look_at_each(a, kept, next);
	own_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - own_ns;
	a->look_due_ns = now_ns + own_ns * LOOK_COSTS;
	return true;
}

/* Choosing. */

static uint64_t weight_of(const struct anchor_process *p)
{
	return p->n_refused < REFUSALS_MAX && !p->is_kept && !count_late_find(p->pid)
		       ? p->ran_ns
		       : 0;
}

struct anchor_process *anchor_processes_choose(struct anchor_processes *a)
{
	uint64_t sum_ns = 0, at_ns;

	vec_each(p, &a->at)
		sum_ns += weight_of(*p);
	at_ns = anchor_budget_draw(a->setting->budget, sum_ns);
	vec_each(p, &a->at) {
		uint64_t weight = weight_of(*p);

		if (at_ns < weight)
			return *p;
		at_ns -= weight;
	}
	return NULL;
}

struct anchor_process *anchor_processes_turn(struct anchor_processes *a)
{
	vec_each(p, &a->at)
		if (anchor_process_is_watched(*p) &&
		    (*p)->cpu_ns >= (*p)->watching.due_ns)
			return *p;
	return NULL;
}

bool anchor_processes_are_watched(const struct anchor_processes *a)
{
	vec_each(p, &a->at)
		if (anchor_process_is_watched(*p))
			return true;
	return false;
}

/* All of them. */

void anchor_processes_tell_time(struct anchor_processes *a, uint32_t next)
{
	vec_each(p, &a->at)
		anchor_process_tell_time(*p, next);
}

void anchor_processes_begin_unseen(struct anchor_processes *a,
				   const struct anchor_process *but, uint32_t next)
{
	vec_each(p, &a->at)
		if (*p != but)
			anchor_process_begin_unseen(*p, next);
}

void anchor_processes_end_unseen(struct anchor_processes *a, uint32_t next)
{
	vec_each(p, &a->at)
		anchor_process_end_unseen(*p, next);
}

void anchor_processes_look_at_meters(struct anchor_processes *a, uint32_t next)
{
	vec_each(p, &a->at)
		if ((*p)->meters.counters.n_areas && !(*p)->is_kept)
			anchor_meters_look(&(*p)->meters, next);
}

void anchor_processes_hold(struct anchor_processes *a, const struct count_visits *v)
{
	if (!v->kept.n)
		return;
	vec_each(p, &a->at)
		if (!(*p)->is_kept && count_visits_kept(v, (*p)->pid))
			anchor_process_hold(*p);
}

/* What is there behind a look was so before. */
void anchor_processes_look_at_kept(struct anchor_processes *a,
				   const struct count_visits *v, uint32_t next)
{
	vec_each(p, &a->at) {
		const struct count_kept *k = count_visits_kept(v, (*p)->pid);

		if (k && anchor_process_look(*p, next) && count_detach_is_there(&k->a))
			(*p)->stood_ns[COUNT_MOMENT_AWAY] = (*p)->cpu_ns;
	}
}

void anchor_processes_tell(struct anchor_processes *a, uint32_t next)
{
	vec_each(p, &a->at)
		anchor_process_tell(*p, next);
}

void anchor_processes_pause(struct anchor_processes *a, uint32_t next)
{
	a->look_due_ns = 0;
	anchor_processes_look(a, NULL, next);
	vec_each(p, &a->at)
		anchor_process_pause(*p, next);
}

/* Nor is it time of which windows are to be a part. */
void anchor_processes_resume(struct anchor_processes *a, uint32_t next)
{
	uint64_t so_far_ns = a->setting->budget->cpu_ns;

	a->look_due_ns = 0;
	anchor_processes_look(a, NULL, next);
	vec_each(p, &a->at)
		anchor_process_resume(*p, next);
	a->setting->budget->cpu_ns = so_far_ns;
}

int anchor_processes_end(struct anchor_processes *a, uint32_t next, struct err *e)
{
	vec_each(p, &a->at) {
		anchor_process_tell_meters(*p, next);
		anchor_meters_let_go(&(*p)->meters);
	}
	return anchor_heirs_end(&a->heirs, e);
}
