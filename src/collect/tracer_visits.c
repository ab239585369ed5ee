/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/tracer_visits.h"

#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/count_late.h"
#include "collect/inject.h"
#include "collect/inject_copies.h"
#include "collect/inject_interrupt.h"
#include "collect/inject_probe.h"
#include "collect/inject_several.h"
#include "collect/source.h"
#include "collect/timer_images.h"
#include "collect/unfollowed.h"
#include "host/clock.h"
#include "host/procfs.h"

/* More would be programs that make others faster than they can be visited. */
#define ROUNDS_MAX 100

/* Those that are still to be visited by then are tried once. */
#define BEGIN_NS UINT64_C(30000000000)
/* The recorder does nothing else when it looks at them, so it is for others to be looked
 * at the next time. */
#define LOOK_NS UINT64_C(20000000)

/* Whether it can be. */

static bool allows(pid_t pid, uint32_t traces, struct err *e)
{
	struct err why = { 0 };
	char where[64];
	int rc = inject_probe(pid, traces, &why);

	if (rc < 0 && e && !e->code) {
		*e = why;
		snprintf(where, sizeof(where), "process %d", (int)pid);
		rc = err_in(e, rc, where);
	}
	return rc == 0;
}

static bool one_below_allows(pid_t root, uint32_t traces)
{
	struct procfs_ids below = { 0 };
	bool does = false;

	if (procfs_descendants(root, &below, NULL) == 0)
		for (size_t i = 0; i < below.ids.n && !does; i++)
			does = below.ids.at[i] != getpid() &&
			       allows(below.ids.at[i], traces, NULL);
	procfs_ids_fini(&below);
	return does;
}

int tracer_visits_probe(const struct scope *scope, uint32_t traces, struct err *e)
{
	struct err why = { 0 };

	for (size_t i = 0; i < scope->n_pids; i++)
		if (allows(scope->pids[i], traces, &why) ||
		    (scope->follow_children && one_below_allows(scope->pids[i], traces)))
			return 0;
	if (e)
		*e = why;
	return why.code;
}

/* Where they meet. */

static int make_place(struct tracer_visits *v, struct timer_directory **ret,
		      struct err *e)
{
	struct timer_place *place = xcalloc(1, sizeof(*place));
	int rc = v->open(v->ctx, &place->directory, e);

	if (rc < 0) {
		free(place);
		return rc;
	}
	timer_images_add(v->images, place);
	*ret = &place->directory;
	return 0;
}

static int directory_of(struct tracer_visits *v, uid_t uid, struct timer_directory **ret,
			struct err *e)
{
	*ret = &v->images->directory;
	if (!v->is_given || (*ret)->owner == uid)
		return 0;
	vec_each(p, &v->images->more)
		if ((*p)->directory.owner == uid) {
			*ret = &(*p)->directory;
			return 0;
		}
	return make_place(v, ret, e);
}

/* Each user has one: who may write there may harm whoever uses it. */
static int give_directory(struct tracer_visits *v, pid_t pid,
			  struct timer_directory **ret, struct err *e)
{
	struct stat st;
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st) < 0)
		return err_os(e, "cannot look at process %d", (int)pid);
	rc = directory_of(v, st.st_uid, ret, e);
	if (rc == 0)
		rc = timer_directory_give(*ret, st.st_uid, st.st_gid, e);
	v->is_given |= rc == 0;
	return rc;
}

/* Visiting. */

static int wish(struct tracer_visits *v, pid_t pid, struct inject_wish *ret,
		struct err *e)
{
	struct timer_directory *directory = NULL;
	int rc = give_directory(v, pid, &directory, e);

	*map_slot(&v->visited, (uint64_t)pid, NULL) = 1;
	if (rc == 0)
		*ret = (struct inject_wish){ .pid = pid, .directory = directory->path };
	return rc;
}

/* Another source tells of it, too, and the experiment goes on without. */
static bool dispense_with(struct tracer_visits *v, pid_t pid, const struct err *why)
{
	if (!v->is_dispensable || procfs_has_ended(pid))
		return false;
	*map_slot(&v->refused, (uint64_t)pid, NULL) = 1;
	if (!v->unwrapped.code)
		v->unwrapped = *why;
	return true;
}

static void keep(struct tracer_visits *v, const struct inject_wish *w)
{
	if (w->ret)
		*vec_push(&v->injected) = (struct tracer_visit){ w->pid, w->ret };
}

static int visit(struct tracer_visits *v, pid_t pid, struct err *e)
{
	struct inject_wish w = { 0 };
	struct err why = { 0 };

	if (wish(v, pid, &w, &why) == 0) {
		inject_several_begin(&w, 1, v->traces, v->until_ns);
		keep(v, &w);
		why = w.why;
	}
	if (!why.code || dispense_with(v, pid, &why))
		return 0;
	if (e)
		*e = why;
	return why.code;
}

static void note(const struct source_context *c, pid_t pid, const char *why)
{
	unfollowed_note(c->tracker, c->writer, (uint32_t)pid, NULL, why);
}

/* What stands before the reason is which process it is of. */
static void refuse(struct tracer_visits *v, pid_t pid, const struct err *why)
{
	const char *reason = strstr(why->text, ": ");

	if (procfs_has_ended(pid))
		return;
	*map_slot(&v->refused, (uint64_t)pid, NULL) = 1;
	v->n_refused++;
	*vec_push(&v->refusals) =
		(struct tracer_refusal){ pid, xstrdup(reason ? reason + 2 : why->text) };
}

void tracer_visits_tell(struct tracer_visits *v)
{
	const struct source_context *c = v->context;

	vec_each(x, &v->refusals) {
		if (tracker_snapshot(c->tracker, clock_monotonic_ns(), (uint32_t)x->pid,
				     NULL) == 0)
			note(c, x->pid, x->why);
		free(x->why);
	}
	vec_clear(&v->refusals);
}

/* A child of vfork goes on in its parent's memory, whose threads do not stand with it.
 * Where the kernel does not tell, a parent that waits in it is in a call that cannot be
 * interrupted. */
static bool shares_memory(pid_t pid)
{
	struct procfs_stat stat, parent;
	long order;

	if (procfs_stat(pid, &stat, NULL) < 0)
		return false;
	order = syscall(SYS_kcmp, (long)pid, (long)stat.ppid, (long)KCMP_VM, 0L, 0L);
	if (order >= 0)
		return order == 0;
	return procfs_stat((pid_t)stat.ppid, &parent, NULL) == 0 && parent.state == 'D';
}

struct wishes {
	VEC(struct inject_wish) of;
};

/* A copy of one that is led is led itself. */
static void add_descendant(struct tracer_visits *v, pid_t pid, struct wishes *to)
{
	struct inject_wish w = { 0 };
	struct err why = { 0 };

	if (inject_copies_is_led(pid))
		*map_slot(&v->visited, (uint64_t)pid, NULL) = 1;
	else if (wish(v, pid, &w, &why) == 0)
		*vec_push(&to->of) = w;
	else if (!dispense_with(v, pid, &why))
		refuse(v, pid, &why);
}

static void visit_several(struct tracer_visits *v, struct wishes *w)
{
	inject_several_begin(w->of.at, w->of.n, v->traces, v->until_ns);
	vec_each(x, &w->of) {
		keep(v, x);
		if (!x->ret && !dispense_with(v, x->pid, &x->why))
			refuse(v, x->pid, &x->why);
	}
	vec_fini(&w->of);
}

/* Not this one, if it is a shell's; who is none of its own yet may be when the others
 * have been visited.  True: there was one that had not been visited. */
static bool visit_below(struct tracer_visits *v, pid_t root)
{
	struct procfs_ids below = { 0 };
	struct wishes wishes = { 0 };
	bool is_new = false;

	if (procfs_descendants(root, &below, NULL) == 0)
		vec_each(pid, &below.ids) {
			if (*pid == getpid() || map_find(&v->visited, (uint64_t)*pid) ||
			    shares_memory(*pid))
				continue;
			is_new = true;
			add_descendant(v, *pid, &wishes);
		}
	procfs_ids_fini(&below);
	visit_several(v, &wishes);
	return is_new;
}

/* One that is visited makes no others that are not; the ones that it had made by then are
 * found when it is looked again. */
static int visit_tree(struct tracer_visits *v, pid_t root, struct err *e)
{
	size_t n_before = v->injected.n;
	struct err why = { 0 };
	int rc = visit(v, root, &why);

	for (unsigned i = 0; v->context->scope->follow_children && i < ROUNDS_MAX; i++)
		if (!visit_below(v, root))
			break;
	if (rc < 0 && v->injected.n > n_before) {
		refuse(v, root, &why);
		return 0;
	}
	if (rc < 0 && e)
		*e = why;
	return rc;
}

int tracer_visits_begin(struct tracer_visits *v, struct err *e)
{
	const struct scope *scope = v->context->scope;
	struct err first = { 0 };

	v->until_ns = clock_monotonic_ns() + BEGIN_NS;
	/* A shell's child, maybe, which is no stranger either. */
	*map_slot(&v->refused, (uint64_t)getpid(), NULL) = 1;
	for (size_t i = 0; i < scope->n_pids; i++) {
		struct err why = { 0 };

		if (map_find(&v->visited, (uint64_t)scope->pids[i]) ||
		    visit_tree(v, scope->pids[i], &why) == 0)
			continue;
		refuse(v, scope->pids[i], &why);
		first = first.code ? first : why;
	}
	if (!first.code || v->injected.n)
		return 0;
	if (e)
		*e = first;
	return first.code;
}

static void ask_threads(struct tracer_visits *v, pid_t pid)
{
	own(procfs_ids_fini) struct procfs_ids tids = { 0 };

	if (map_find(&v->refused, (uint64_t)pid) || procfs_has_ended(pid) ||
	    procfs_tasks(pid, &tids, NULL) < 0)
		return;
	vec_each(tid, &tids.ids)
		*vec_push(&v->to_interrupt) = (struct tracer_waiter){ pid, *tid };
}

void tracer_visits_interrupt(struct tracer_visits *v)
{
	for (size_t i = 0; i < v->visited.cap; i++)
		if (v->visited.at[i].used)
			ask_threads(v, (pid_t)v->visited.at[i].key);
}

static void interrupt_some(struct tracer_visits *v, uint64_t until_ns)
{
	while (v->to_interrupt.n && clock_monotonic_ns() < until_ns) {
		struct tracer_waiter *w = &v->to_interrupt.at[--v->to_interrupt.n];

		v->stood_ns += inject_interrupt(w->pid, w->tid);
	}
}

static void leave(struct tracer_visits *v, struct inject *const *all, size_t n)
{
	struct err e = { 0 };

	if (inject_several_end(all, n, &v->stood_ns, &e) < 0)
		v->trouble = e;
}

/* False: it was to be left. */
static bool look_at(struct tracer_visits *v, const struct tracer_visit *x)
{
	struct err why = { 0 };
	char text[sizeof(why.text) + 40];

	if (inject_look(x->inject, &why) == 0)
		return true;
	leave(v, &x->inject, 1);
	snprintf(text, sizeof(text), "only until it loaded a library: %s", why.text);
	note(v->context, x->pid, text);
	return false;
}

void tracer_visits_look(struct tracer_visits *v)
{
	uint64_t until_ns = clock_monotonic_ns() + LOOK_NS;

	count_late_let_go();
	interrupt_some(v, until_ns);
	for (size_t n = v->injected.n; n && clock_monotonic_ns() < until_ns; n--) {
		struct tracer_visit *x;

		v->next = v->next < v->injected.n ? v->next : 0;
		x = &v->injected.at[v->next];
		if (look_at(v, x))
			v->next++;
		else
			*x = v->injected.at[--v->injected.n];
	}
}

void tracer_visits_end(struct tracer_visits *v)
{
	VEC(struct inject *) all = { 0 };

	vec_each(x, &v->injected)
		*vec_push(&all) = x->inject;
	leave(v, all.at, all.n);
	vec_fini(&all);
	vec_clear(&v->injected);
}

void tracer_visits_fini(struct tracer_visits *v)
{
	tracer_visits_end(v);
	count_late_await();
	vec_fini(&v->injected);
	vec_fini(&v->to_interrupt);
	vec_each(x, &v->refusals)
		free(x->why);
	vec_fini(&v->refusals);
	map_fini(&v->visited);
	map_fini(&v->refused);
}
