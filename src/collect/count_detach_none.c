/* SPDX-License-Identifier: Apache-2.0
 * Where there is no counting engine. */
#include "collect/count_detach.h"

int count_detach(struct count_attached *a, const struct count_look *look, struct err *e)
{
	(void)a;
	(void)look;
	(void)e;
	return 0;
}

int count_detach_try(struct count_attached *a, const struct count_look *look,
		     uint64_t limit_ns, struct err *e)
{
	(void)limit_ns;
	return count_detach(a, look, e);
}

void count_detach_resting(const struct count_attached *a)
{
	(void)a;
}

bool count_detach_is_there(const struct count_attached *a)
{
	(void)a;
	return false;
}

bool count_detach_is_awaited(const struct count_attached *a)
{
	(void)a;
	return false;
}
