/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject.h"

#include <stddef.h>

#include "collect/inject_interrupt.h"

const char *const inject_why_not =
	"is loaded when a program starts on this CPU: use 'dwell run'";

int inject_begin(pid_t pid, const char *directory, uint32_t traces, uint64_t until_ns,
		 struct inject **ret, struct err *e)
{
	(void)pid;
	(void)directory;
	(void)traces;
	(void)until_ns;
	(void)ret;
	return err_set(e, ERR_UNSUPPORTED, "%s", inject_why_not);
}

int inject_look(struct inject *i, struct err *e)
{
	(void)i;
	(void)e;
	return 0;
}

int inject_leave(struct inject *i, uint64_t until_ns, uint64_t *stood_ns, struct err *e)
{
	(void)i;
	(void)until_ns;
	(void)stood_ns;
	(void)e;
	return 0;
}

int inject_leave_copy(const struct inject *i, pid_t pid, uint64_t until_ns, struct err *e)
{
	(void)i;
	(void)pid;
	(void)until_ns;
	(void)e;
	return 0;
}

uint64_t inject_interrupt(pid_t pid, pid_t tid)
{
	(void)pid;
	(void)tid;
	return 0;
}

void inject_free(struct inject *i)
{
	(void)i;
}

const struct wire_injected *inject_head(const struct inject *i)
{
	(void)i;
	return NULL;
}

bool inject_is_first_of(const struct inject *i, const struct inject_copy *copy)
{
	(void)i;
	(void)copy;
	return false;
}
