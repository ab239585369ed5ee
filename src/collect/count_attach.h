/* SPDX-License-Identifier: Apache-2.0
 *
 * count_attach - the counting engine comes to a process that already runs.
 *
 * All threads are stopped for some milliseconds; in between nobody traces them, so that
 * whatever happens to us happens to us alone: they go on with the engine.
 */
#ifndef DWELL_COLLECT_COUNT_ATTACH_H
#define DWELL_COLLECT_COUNT_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/count_directory.h"
#include "host/newcomers.h"
#include "wire/count_control.h"

/* Where the program stands, as its only thread has it. */
struct count_stand {
	pid_t tid;
	struct count_control_regs native;
};

/* When all of its threads stand. */
enum count_moment {
	COUNT_MOMENT_NATIVE,	 /* before anything has changed */
	COUNT_MOMENT_TRANSLATED, /* it goes on with the engine */
	COUNT_MOMENT_AWAY,	 /* all are out of translated code */
};

/* Asked to look at it while it stands: before the engine comes, or after it is gone; and
 * told of moments, with as many threads as there are. */
struct count_look {
	void (*at)(void *ctx, const struct count_stand *stand, bool is_left);
	void (*stands)(void *ctx, enum count_moment moment);
	void *ctx; /* borrowed */
};

/* Where the engine is in a process, and in the children that it has by fork. */
struct count_attached {
	pid_t pid;
	uint64_t engine, engine_bytes;
	uint64_t control, control_bytes;
	uint64_t site; /* an instruction of the process's that makes a system call */
	bool is_to_rest, rests; /* when it is left, in the process's memory; it does */
	struct newcomers alone; /* nobody had that memory as well then */
	struct count_control told;
};

/* Counts into the directory, which the process's user may use from now on.  On failure
 * the process is as it was, or without what rested in it.  flags: wire/count_flags.h;
 * look: NULL, or who is to look, if there is one thread; resting: where the engine is
 * already, or NULL. */
must_use int count_attach(pid_t pid, const struct count_directory *d, const char *flags,
			  const struct count_look *look,
			  const struct count_attached *resting,
			  struct count_attached *ret, struct err *e);

#endif
