/* SPDX-License-Identifier: Apache-2.0
 *
 * anchors_fixture - the source of anchors beside a child that works, and what it wrote.
 */
#ifndef DWELL_TESTS_ANCHORS_FIXTURE_H
#define DWELL_TESTS_ANCHORS_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/source.h"
#include "store/recording.h"

/* Of CPU time. */
#define ANCHORS_FIXTURE_WORK_NS	 5000000
#define ANCHORS_FIXTURE_PAUSE_NS 1000000 /* between two looks at it */

extern const struct source_ops anchors_source;

struct anchors_fixture {
	char path[64];
	struct writer *writer;
	struct tracker *tracker;
	struct scope scope;
	struct plan plan;
	struct source *source;
	pid_t child; /* the first that is observed */
};

/* A recording of that name, of nobody yet. */
void anchors_fixture_begin(struct anchors_fixture *f, const char *name);
/* Windows begin in that child, for so much of the time, in per cent. */
void anchors_fixture_observe(struct anchors_fixture *f, pid_t child, uint64_t pct);
/* It is woken up, and looks; false: what wakes it up does so at once again. */
bool anchors_fixture_drain(const struct anchors_fixture *f);
/* What was recorded, which is the caller's. */
struct recording *anchors_fixture_finish(struct anchors_fixture *f,
					 struct source_stats *stats);

uint64_t anchors_fixture_cpu_ns(pid_t pid);
/* Until it has had that much more CPU time. */
void anchors_fixture_wait_for_work(pid_t pid);

#endif
