/* SPDX-License-Identifier: Apache-2.0
 *
 * chronicle_sums - of which time sums are that were written while recording.
 *
 * They are written once a second or more often, but none that are zero: how long a sum
 * has nothing before it does not tell how long it is of.  All of a source's are written
 * together, whatever a filter chooses of them.
 */
#ifndef DWELL_ANALYZE_CHRONICLE_SUMS_H
#define DWELL_ANALYZE_CHRONICLE_SUMS_H

#include <stdint.h>

#include "analyze/chronicle_kind.h"
#include "analyze/profile.h"
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"

/* When something was written, of a process or of a thread: of that, the longest sum. */
struct chronicle_sums_time {
	uint64_t time_ns;
	double ns, longest_ns;
};

struct chronicle_sums_times {
	VEC(struct chronicle_sums_time) at;
};

struct chronicle_sums {
	const struct profile *profile; /* borrowed */
	size_t source;
	/* pid or tid, and experiment, to the place in `all` */
	struct map processes, threads;
	VEC(struct chronicle_sums_times) all;
};

/* kinds: by column, those that count. */
must_use int chronicle_sums_load(struct chronicle_sums *c, const struct profile *p,
				 size_t source, const enum chronicle_kind *kinds,
				 struct err *e);
void chronicle_sums_fini(struct chronicle_sums *c);

/* When the time of a sum began, unless it is longer: a wait is told when it is over. */
uint64_t chronicle_sums_since(const struct chronicle_sums *c,
			      const struct profile_sample *s);
/* How long the thread did what was written with it, beside what it did longest. */
double chronicle_sums_rest_ns(const struct chronicle_sums *c,
			      const struct profile_sample *s);

#endif
