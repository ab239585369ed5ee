/* SPDX-License-Identifier: Apache-2.0
 *
 * thread_names - what threads are called of which the tracer alone tells: what they say
 * with their first event, and what the kernel has them called later.
 *
 * Of threads that another source names, as the kernel tells it, nothing is changed.
 * Zero-initialise, release with thread_names_fini().
 */
#ifndef DWELL_COLLECT_THREAD_NAMES_H
#define DWELL_COLLECT_THREAD_NAMES_H

#include <stdint.h>

#include "base/map.h"
#include "store/writer.h"

struct thread_names {
	struct map given; /* tid → the thread in the recording << 32 | its name there */
	/* When the kernel was asked last, is asked again, and then. */
	uint64_t asked_ns, ask_ns, pause_ns;
};

void thread_names_fini(struct thread_names *n);

/* It says so itself. */
void thread_names_tell(struct thread_names *n, struct writer *w, uint32_t thread,
		       uint32_t tid, const char *name);
/* Those of the process as they are called now. */
void thread_names_ask(struct thread_names *n, struct writer *w, uint32_t pid);
/* The same where it is time to. */
void thread_names_ask_due(struct thread_names *n, struct writer *w, uint32_t pid,
			  uint64_t now_ns);

#endif
