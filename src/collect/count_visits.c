/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_visits.h"

#include "collect/count_detach.h"
#include "collect/count_late.h"
#include "collect/count_status.h"
#include "host/clock.h"
#include "host/newcomers.h"
#include "host/procfs.h"

#define LIMIT_NS      10000000u /* of a try to leave one that is kept ... */
#define DOUBLED	      4u	/* ... twice as much each time, so often */
#define LAST_LIMIT_NS 1000000000u
#define FIRST_WAIT_NS UINT64_C(100000000) /* until the first one */
#define TRIES	      8u

void count_visits_fini(struct count_visits *v)
{
	vec_fini(&v->at);
	vec_fini(&v->kept);
	count_resting_end(&v->resting);
	count_late_await();
}

/* Of an engine that cannot go on from where it is nothing is left, and another comes. */
static int come_to(struct count_visits *v, pid_t pid, const struct count_directory *d,
		   const char *flags, struct count_attached *ret, struct err *e)
{
	const struct count_look *look = v->at.n ? NULL : v->look;
	struct count_attached was;
	struct err why = { 0 };

	if (count_resting_take(&v->resting, pid, &was)) {
		if (count_status_locked_kb(pid)) {
			count_detach_resting(&was);
			return count_attach(pid, d, flags, look, NULL, ret, e);
		}

		int rc = count_attach(pid, d, flags, look, &was, ret, &why);

		if (rc == 0)
			return 0;
		if (count_detach_is_there(&was)) {
			count_resting_add(&v->resting, &was);
			*e = why;
			return rc;
		}
	}
	return count_attach(pid, d, flags, look, NULL, ret, e);
}

int count_visits_begin(struct count_visits *v, pid_t pid, const struct count_directory *d,
		       const char *flags, struct err *e)
{
	struct newcomers now = newcomers_mark();
	struct count_attached a;
	int rc = come_to(v, pid, d, flags, &a, e);

	if (!v->at.n) {
		v->begun = now;
		v->first = pid;
	}
	if (rc == 0)
		*vec_push(&v->at) = a;
	return rc;
}

void count_visits_child(struct count_visits *v, uint32_t pid, uint32_t parent)
{
	for (size_t i = 0; i < v->at.n; i++)
		if (v->at.at[i].pid == (pid_t)pid)
			return;
	for (size_t i = 0; i < v->at.n; i++)
		if (v->at.at[i].pid == (pid_t)parent) {
			struct count_attached a = v->at.at[i];

			a.pid = (pid_t)pid;
			*vec_push(&v->at) = a;
			return;
		}
}

static void find_children(struct count_visits *v)
{
	own(procfs_ids_fini) struct procfs_ids pids = { 0 };
	size_t n = v->at.n;

	if (newcomers_since(&v->begun, &pids, NULL) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		vec_each(pid, &pids.ids) {
			struct count_attached a = v->at.at[i];

			a.pid = *pid;
			if (a.pid != v->at.at[i].pid && count_detach_is_there(&a) &&
			    procfs_is_process(a.pid))
				count_visits_child(v, (uint32_t)a.pid,
						   (uint32_t)v->at.at[i].pid);
		}
}

static void note_kept(struct count_visits *v)
{
	v->n_kept = v->kept.n;
	v->why_kept = v->kept.n ? v->kept.at[0].why : (struct err){ 0 };
}

/* limit_ns: 0: as long as it takes, within reason. */
static bool leave_one(struct count_visits *v, struct count_kept *k, uint64_t limit_ns)
{
	struct count_attached *a = &k->a;
	int rc;

	a->is_to_rest = k->may_rest && count_resting_may(a->pid) &&
			!count_status_locked_kb(a->pid);
	k->why = (struct err){ 0 };
	rc = limit_ns ? count_detach_try(a, k->look, limit_ns, &k->why)
		      : count_detach(a, k->look, &k->why);
	if (a->rests)
		count_resting_add(&v->resting, a);
	k->tried_ns = clock_monotonic_ns();
	k->try_ns = k->tried_ns + (FIRST_WAIT_NS << k->n_tries);
	return rc == 0;
}

static void leave_or_keep(struct count_visits *v, struct count_kept *k, uint64_t limit_ns)
{
	if (leave_one(v, k, limit_ns))
		return;
	*vec_push(&v->kept) = *k;
	note_kept(v);
}

static void leave(struct count_visits *v, size_t i)
{
	bool is_first = v->at.at[i].pid == v->first;
	struct count_kept k = { .a = v->at.at[i],
				.begun = v->begun,
				.looked = v->begun,
				.look = is_first ? v->look : NULL,
				.may_rest = v->lets_rest && is_first };

	leave_or_keep(v, &k, 0);
}

bool count_visits_are_awaited(const struct count_visits *v)
{
	vec_each(a, &v->at)
		if (count_detach_is_awaited(a))
			return true;
	return false;
}

/* Its other threads may have made children until it stood. */
void count_visits_leave_awaited(struct count_visits *v)
{
	for (size_t i = v->at.n; i-- > 0;) {
		if (!count_detach_is_awaited(&v->at.at[i]))
			continue;
		leave(v, i);
		find_children(v);
		v->at.at[i] = v->at.at[--v->at.n];
		v->n_confined++;
	}
}

void count_visits_end(struct count_visits *v)
{
	for (size_t i = 0; i < v->at.n; i++) {
		leave(v, i);
		if (i + 1 == v->at.n)
			find_children(v);
	}
	vec_clear(&v->at);
}

const struct count_kept *count_visits_kept(const struct count_visits *v, pid_t pid)
{
	vec_each(k, &v->kept)
		if (k->a.pid == pid)
			return k;
	return NULL;
}

static bool is_to_be_tried(const struct count_kept *k, enum count_visits_try how)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (how == COUNT_VISITS_LAST)
		return true;
	if (count_detach_is_awaited(&k->a))
		return now_ns >= k->tried_ns + FIRST_WAIT_NS;
	return how == COUNT_VISITS_TRY && k->n_tries < TRIES && now_ns >= k->try_ns;
}

/* On a machine with much to do a thread waits for a CPU to stop on. */
static uint64_t limit_of(const struct count_kept *k)
{
	return LIMIT_NS << (k->n_tries < DOUBLED ? k->n_tries : DOUBLED);
}

static bool try_again(struct count_visits *v, struct count_kept *k,
		      enum count_visits_try how)
{
	if (!count_detach_is_there(&k->a))
		return true;
	if (!is_to_be_tried(k, how))
		return false;
	if (k->n_tries < TRIES)
		k->n_tries++;
	return leave_one(v, k, how == COUNT_VISITS_LAST ? LAST_LIMIT_NS : limit_of(k));
}

/* One that has its id may not be there yet, so each is asked for twice. */
static void leave_children(struct count_visits *v, struct count_kept *of,
			   uint64_t limit_ns)
{
	own(procfs_ids_fini) struct procfs_ids pids = { 0 };
	struct newcomers now = newcomers_mark();

	if (newcomers_since(&of->begun, &pids, NULL) < 0)
		return;
	of->begun = of->looked;
	of->looked = now;
	vec_each(pid, &pids.ids) {
		struct count_kept k = { .a = of->a, .begun = of->begun, .looked = now };

		k.a.pid = *pid;
		if (*pid != of->a.pid && count_detach_is_there(&k.a) &&
		    procfs_is_process(*pid) && !count_visits_kept(v, *pid))
			leave_or_keep(v, &k, limit_ns);
	}
}

/* Children that cannot be left are added behind all that are tried. */
void count_visits_try_kept(struct count_visits *v, enum count_visits_try how)
{
	uint64_t limit_ns = how == COUNT_VISITS_LAST ? LAST_LIMIT_NS : LIMIT_NS;

	for (size_t i = v->kept.n; i-- > 0;) {
		struct count_kept k = v->kept.at[i];
		bool is_left = try_again(v, &k, how);

		leave_children(v, &k, limit_ns);
		v->kept.at[i] = is_left ? v->kept.at[--v->kept.n] : k;
	}
	note_kept(v);
}
