/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject.h"

const char *const inject_why_not =
	"is loaded when a program starts on this CPU: use 'dwell run'";

int inject_begin(pid_t pid, const char *directory, uint32_t traces, struct inject **ret,
		 struct err *e)
{
	(void)pid;
	(void)directory;
	(void)traces;
	(void)ret;
	return err_set(e, ERR_UNSUPPORTED, "%s", inject_why_not);
}

int inject_look(struct inject *i, struct err *e)
{
	(void)i;
	(void)e;
	return 0;
}

int inject_end(struct inject *const *all, size_t n, uint64_t *stood_ns, struct err *e)
{
	(void)all;
	(void)n;
	(void)stood_ns;
	(void)e;
	return 0;
}
