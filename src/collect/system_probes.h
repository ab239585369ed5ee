/* SPDX-License-Identifier: Apache-2.0
 *
 * system_probes - system calls and triggers by thread and stack, summed in the kernel.
 *
 * BPF programs (wire/probe_record.h); this loads them, and fetches what they summed.  One
 * thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_PROBES_H
#define DWELL_COLLECT_SYSTEM_PROBES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/system_programs.h"
#include "wire/probe_record.h"
#include "wire/state_record.h"

struct system_probes;

/* A tracepoint, or a place in the code of programs; and what of it is summed. */
struct system_probes_place {
	const char *group, *name;   /* tracepoint, borrowed; NULL: code, */
	const char *path;	    /* of that file, borrowed, */
	uint64_t offset, semaphore; /* there; of a counter of its users, 0: none */
	struct probe_record_place what;
};

struct system_probes_settings {
	struct system_threads_whom whom;
	bool has_calls; /* system calls */
	struct system_probes_place places[PROBE_RECORD_PLACES_MAX];
	size_t n_places;
	const char *pins; /* under that name it goes on without us; NULL: not */
};

/* ERR_UNSUPPORTED and why when the kernel does not let us. */
must_use int system_probes_new(const struct system_probes_settings *settings,
			       const struct system_threads_sink *sink,
			       struct system_probes **ret, struct err *e);
void system_probes_free(struct system_probes *s);
void system_probes_freep(struct system_probes **s);

const struct system_programs *system_probes_programs(const struct system_probes *s);
/* Begin; what is paused sums nothing. */
must_use int system_probes_start(struct system_probes *s, struct err *e);
/* Nothing is seen any more; calls that are under way have taken the time until now. */
void system_probes_stop(struct system_probes *s);

#endif
