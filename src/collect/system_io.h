/* SPDX-License-Identifier: Apache-2.0
 *
 * system_io - the system calls that read and write, by thread, stack and file, summed in
 * the kernel.
 *
 * BPF programs (wire/io_record.h); this loads them, and fetches what they summed.  One
 * thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_IO_H
#define DWELL_COLLECT_SYSTEM_IO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/system_programs.h"
#include "wire/io_record.h"

struct system_io;

struct system_io_settings {
	struct system_threads_whom whom;
	bool is_flat;	       /* no stacks */
	bool has_earlier;      /* threads run already, and may be in a call */
	bool tells_each;       /* every call by itself, too */
	bool tells_unfinished; /* those that have not returned in the end, by threads */
};

/* ERR_UNSUPPORTED and why when the kernel does not let us. */
must_use int system_io_new(const struct system_io_settings *settings,
			   const struct system_threads_sink *sink, struct system_io **ret,
			   struct err *e);
void system_io_free(struct system_io *s);
void system_io_freep(struct system_io **s);

const struct system_programs *system_io_programs(const struct system_io *s);

/* Begin; what is paused sums nothing. */
must_use int system_io_start(struct system_io *s, struct err *e);
/* What is beside a sum, since the last time. */
void system_io_take_more(struct system_io *s, uint32_t number,
			 struct io_record_more *ret);
/* Calls that had no room there. */
uint64_t system_io_n_unsized(const struct system_io *s);
/* Are requests of io_uring seen?  And those whose end is not: there was no room. */
bool system_io_sees_requests(const struct system_io *s);
uint64_t system_io_n_unmet(const struct system_io *s);
/* Nothing is seen any more; calls that are under way have taken the time until now. */
void system_io_stop(struct system_io *s);

#endif
