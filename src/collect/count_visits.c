/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_visits.h"

#include <string.h>

#include "collect/count_detach.h"
#include "collect/count_late.h"
#include "collect/count_status.h"
#include "host/newcomers.h"
#include "host/procfs.h"

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

static void leave_it(struct count_visits *v, struct count_attached *a)
{
	bool is_first = a->pid == v->first;
	struct err why = { 0 };

	a->is_to_rest = v->lets_rest && is_first && count_resting_may(a->pid) &&
			!count_status_locked_kb(a->pid);
	if (count_detach(a, is_first ? v->look : NULL, &why) < 0) {
		*vec_push(&v->kept) = *a;
		if (!v->n_kept++)
			v->why_kept = why;
	}
	if (a->rests)
		count_resting_add(&v->resting, a);
}

static void leave(struct count_visits *v, size_t i)
{
	leave_it(v, &v->at.at[i]);
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

bool count_visits_keep(const struct count_visits *v, pid_t pid)
{
	vec_each(a, &v->kept)
		if (a->pid == pid)
			return true;
	return false;
}

void count_visits_end_kept(struct count_visits *v)
{
	__typeof__(v->kept) were = v->kept;

	memset(&v->kept, 0, sizeof(v->kept));
	v->n_kept = 0;
	vec_each(a, &were)
		leave_it(v, a);
	vec_fini(&were);
}
