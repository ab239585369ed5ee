/* SPDX-License-Identifier: Apache-2.0
 * Where there is no counting engine. */
#include "collect/count_detach.h"

int count_detach(const struct count_attached *a, struct count_stand *ret_left,
		 struct err *e)
{
	(void)a;
	(void)ret_left;
	(void)e;
	return 0;
}

bool count_detach_is_there(const struct count_attached *a)
{
	(void)a;
	return false;
}
