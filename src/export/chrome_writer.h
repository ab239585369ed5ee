/* SPDX-License-Identifier: Apache-2.0
 *
 * chrome_writer - events of the Trace Event Format, one after the other.
 *
 * Times are given in ns since the start of the recording and written in microseconds.
 */
#ifndef DWELL_EXPORT_CHROME_WRITER_H
#define DWELL_EXPORT_CHROME_WRITER_H

#include <stdint.h>

#include "base/json.h"

struct chrome_writer {
	struct json *j;
	uint64_t start_ns; /* time 0 */
};

/* Whose events are; tid 0: the process'. */
struct chrome_whose {
	uint32_t pid, tid;
};

/* What a process or a thread is called: key "process_name" or "thread_name". */
void chrome_writer_name(const struct chrome_writer *w, struct chrome_whose whose,
			const char *key, const char *name);
void chrome_writer_slice(const struct chrome_writer *w, struct chrome_whose whose,
			 uint64_t from_ns, uint64_t to_ns, const char *name,
			 const char *category);
/* What goes on beside threads, from and to; ids are of one such each.  What is to be said
 * of it, as JSON, comes between its beginning and what follows it. */
void chrome_writer_begin_beside(const struct chrome_writer *w, struct chrome_whose whose,
				uint64_t id, uint64_t from_ns, const char *name);
void chrome_writer_end_beside(const struct chrome_writer *w, struct chrome_whose whose,
			      uint64_t id, uint64_t to_ns, const char *name);
/* A value of a process from then on. */
void chrome_writer_counter(const struct chrome_writer *w, uint32_t pid, uint64_t time_ns,
			   const char *name, const char *unit, double value);
/* A moment of all of it. */
void chrome_writer_mark(const struct chrome_writer *w, uint64_t time_ns, const char *name,
			const char *cause);

#endif
