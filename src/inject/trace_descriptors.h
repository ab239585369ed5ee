/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_descriptors - which file a descriptor was of, without asking the kernel again.
 *
 * What is known is forgotten when a call that we wrap may make the descriptor another
 * file's (wire/tracer_io_calls.def), and when it is a millisecond old: what makes system
 * calls by itself is not seen.  Nothing is kept of a child of vfork, which has our memory
 * and descriptors of its own.
 *
 * Reentrant and without locks: what two write at once is known to be neither's.
 */
#ifndef DWELL_INJECT_TRACE_DESCRIPTORS_H
#define DWELL_INJECT_TRACE_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/trace_io_file.h"

/* A look at a descriptor: what is asked behind it is kept only where nobody has changed
 * it since. */
struct trace_descriptor {
	int fd;
	uint64_t time_ns;
	uint64_t changes; /* of it and of all, until then */
};

struct trace_descriptor trace_descriptor_look(int fd);
/* False: it is to be asked for. */
bool trace_descriptor_find(const struct trace_descriptor *d, struct trace_io_file *ret);
void trace_descriptor_keep(const struct trace_descriptor *d, struct trace_io_file file);

/* What a call does to descriptors, by its arguments. */
enum trace_descriptor_change {
	TRACE_DESCRIPTOR_SAME,
	TRACE_DESCRIPTOR_FIRST,	 /* the first argument is another file's, or no one's */
	TRACE_DESCRIPTOR_SECOND, /* the second one is */
	TRACE_DESCRIPTOR_ALL,	 /* any may be */
	TRACE_DESCRIPTOR_RANGE,	 /* close_range(): one of these two, by its flags */
	TRACE_DESCRIPTOR_OWN,	 /* for good: threads may have descriptors of their own */
};

/* Before and behind such a call. */
void trace_descriptor_change(enum trace_descriptor_change change, const long *arguments);
void trace_descriptor_forget(int fd);
/* What is made by number. */
void trace_descriptor_note(long nr, const long *arguments);

#endif
