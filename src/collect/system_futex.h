/* SPDX-License-Identifier: Apache-2.0
 *
 * system_futex - waits that go through the kernel, by thread, stack and word, summed
 * there.
 *
 * BPF programs (wire/futex_record.h); this loads them, and fetches what they summed.  One
 * thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_FUTEX_H
#define DWELL_COLLECT_SYSTEM_FUTEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/system_programs.h"
#include "wire/futex_record.h"

struct system_futex;

struct system_futex_settings {
	struct system_threads_whom whom;
	uint64_t threshold_ns; /* shorter waits are only counted */
	/* Words that no variable is are not told apart: of a machine without end there
	 * would be ever more. */
	bool has_no_addresses;
	bool tells_each; /* every wait by itself, too */
	uint64_t cookie; /* what threads tell by that is not summed; 0: all of it is */
};

struct system_futex_counts {
	uint64_t n_short, short_ns, n_untimed;
};

/* ERR_UNSUPPORTED and why when the kernel does not let us. */
must_use int system_futex_new(const struct system_futex_settings *settings,
			      const struct system_threads_sink *sink,
			      struct system_futex **ret, struct err *e);
void system_futex_free(struct system_futex *s);
void system_futex_freep(struct system_futex **s);

const struct system_programs *system_futex_programs(const struct system_futex *s);

/* Begin; what is paused sums nothing. */
must_use int system_futex_start(struct system_futex *s, struct err *e);
/* What is beside a sum, since the last time. */
void system_futex_take_more(struct system_futex *s, uint32_t number,
			    struct futex_record_more *ret);
/* Since the start: waits below the threshold, and those that had no room there. */
void system_futex_counts(const struct system_futex *s, struct system_futex_counts *ret);
/* Nothing is seen any more; waits that are under way have taken the time until now. */
void system_futex_stop(struct system_futex *s);

#endif
