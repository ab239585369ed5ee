/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_several - tracing brought to several processes that run, and taken from them
 * again with the children that they made since.
 *
 * Some at once, by threads of ours that end with it: on a machine with much to do each
 * stop is a turn of all that wait for a CPU, and who is told to stop takes none of it.
 */
#ifndef DWELL_COLLECT_INJECT_SEVERAL_H
#define DWELL_COLLECT_INJECT_SEVERAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"

struct inject;

struct inject_wish {
	pid_t pid;
	const char *directory; /* as of inject_begin() */
	struct inject *ret;    /* NULL: why not */
	struct err why;
};

/* Each is tried for ten seconds at most, and after until_ns once. */
void inject_several_begin(struct inject_wish *all, size_t n, uint32_t traces,
			  uint64_t until_ns);
/* These processes of one recorder are as they were, as inject_leave() says; so are
 * children that they made since, which are looked for once for all of them.  Each is
 * tried for ten seconds at most, and once after half a minute.  Frees them.  Otherwise *e
 * says what is left first, and names the others. */
int inject_several_end(struct inject *const *all, size_t n, uint64_t *stood_ns,
		       struct err *e);

#endif
