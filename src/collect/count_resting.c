/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_resting.h"

#include <stddef.h>
#include <sys/resource.h>

#include "collect/count_detach.h"

static void drop(struct count_resting *r, size_t i)
{
	for (r->at.n--; i < r->at.n; i++)
		r->at.at[i] = r->at.at[i + 1];
}

static bool is_unlimited(pid_t pid, int what)
{
	struct rlimit l;

	return prlimit(pid, what, NULL, &l) == 0 && l.rlim_cur == RLIM_INFINITY;
}

bool count_resting_may(pid_t pid)
{
	return is_unlimited(pid, RLIMIT_AS) && is_unlimited(pid, RLIMIT_DATA);
}

static void drop_ended(struct count_resting *r)
{
	for (size_t i = r->at.n; i-- > 0;)
		if (!count_detach_is_there(&r->at.at[i]))
			drop(r, i);
}

void count_resting_add(struct count_resting *r, const struct count_attached *a)
{
	if (r->at.n == COUNT_RESTING_MAX)
		drop_ended(r);
	if (r->at.n == COUNT_RESTING_MAX) {
		count_detach_resting(&r->at.at[0]);
		drop(r, 0);
	}
	*vec_push(&r->at) = *a;
}

bool count_resting_take(struct count_resting *r, pid_t pid, struct count_attached *ret)
{
	for (size_t i = 0; i < r->at.n; i++) {
		if (r->at.at[i].pid != pid)
			continue;
		*ret = r->at.at[i];
		drop(r, i);
		return count_detach_is_there(ret);
	}
	return false;
}

bool count_resting_has(const struct count_resting *r, pid_t pid)
{
	for (size_t i = 0; i < r->at.n; i++)
		if (r->at.at[i].pid == pid)
			return count_detach_is_there(&r->at.at[i]);
	return false;
}

void count_resting_check(struct count_resting *r)
{
	for (size_t i = r->at.n; i-- > 0;) {
		if (count_resting_may(r->at.at[i].pid))
			continue;
		count_detach_resting(&r->at.at[i]);
		drop(r, i);
	}
}

void count_resting_end(struct count_resting *r)
{
	for (size_t i = 0; i < r->at.n; i++)
		count_detach_resting(&r->at.at[i]);
	vec_fini(&r->at);
}
