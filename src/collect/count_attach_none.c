/* SPDX-License-Identifier: Apache-2.0
 * Where there is no counting engine. */
#include "collect/count_attach.h"

int count_attach(pid_t pid, const struct count_directory *d, const char *flags,
		 const struct count_look *look, const struct count_attached *resting,
		 struct count_attached *ret, struct err *e)
{
	(void)pid;
	(void)d;
	(void)flags;
	(void)look;
	(void)resting;
	(void)ret;
	return err_set(e, ERR_UNSUPPORTED, "processes are counted on x86-64 only");
}
