/* SPDX-License-Identifier: Apache-2.0
 * Where there is no counting engine. */
#include "collect/count_detach.h"

int count_detach(const struct count_attached *a, const struct count_look *look,
		 struct err *e)
{
	(void)a;
	(void)look;
	(void)e;
	return 0;
}

bool count_detach_is_there(const struct count_attached *a)
{
	(void)a;
	return false;
}
