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
