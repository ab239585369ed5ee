/* SPDX-License-Identifier: Apache-2.0
 *
 * system_programs - BPF programs that are loaded and follow threads, whatever they sum.
 *
 * What is the same of all of them, beside the skeleton, which is of a type of its own for
 * each, is loaded by whoever has it, and is freed last.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_PROGRAMS_H
#define DWELL_COLLECT_SYSTEM_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/system_code.h"
#include "collect/system_hooks.h"
#include "collect/system_threads.h"

struct system_keeping;

struct system_programs {
	/* Who is followed, and what was summed since they were started. */
	struct system_threads *threads;
	struct system_code_maps maps;	/* for system_code_open() */
	struct system_keeping *keeping; /* what outlives this process, or NULL */
	bool is_taken;			/* it is another's that was killed */
	bool is_stopped;
};

/* Of a skeleton that is loaded: p has its maps, and threads of these parts. */
must_use int system_programs_open(struct system_programs *p,
				  struct system_threads_parts *parts,
				  const struct system_threads_sink *sink, struct err *e);
/* p: zeros will do. */
void system_programs_fini(struct system_programs *p);

/* NULL: nothing outlives this process. */
const struct system_pins *system_programs_pins(const struct system_programs *p);
/* If they have begun: these hooks are ended, and what is under way is charged. */
void system_programs_stop(struct system_programs *p, const struct system_hook *hooks,
			  size_t n);

#endif
