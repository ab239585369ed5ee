/* SPDX-License-Identifier: Apache-2.0
 *
 * segment_maker - makes segments of a database out of the recordings that wait, in a
 * process that the daemon started for it (segment_job.h).
 *
 * It may be killed at any moment: what was not made is made the next time, and nothing
 * is counted twice.  It writes lines for the daemon to read.
 */
#ifndef DWELL_COLLECT_SEGMENT_MAKER_H
#define DWELL_COLLECT_SEGMENT_MAKER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/apart.h"
#include "store/database_writer.h"
#include "store/writer.h"

/* Its lines: one for each segment, that all that waited is one, and what went wrong. */
#define SEGMENT_MAKER_MADE  "made"
#define SEGMENT_MAKER_ADDED "added"
#define SEGMENT_MAKER_ERROR "error"

/* What nobody waits for takes what others leave of the CPUs. */
#define SEGMENT_MAKER_NICE 10

/* Info of a recording: the boot whose kernel its addresses are of. */
#define SEGMENT_MAKER_BOOT "boot-id"
/* Info: what of it the segment tells apart. */
#define SEGMENT_MAKER_APART "tells-apart"
/* Info: of which executables processes are. */
#define SEGMENT_MAKER_CHOSEN "tells-apart-of"

struct segment_maker_settings {
	const char *database, *host;
	int lock; /* of the database's writer, inherited */
	struct database_retention retention;
};

/* The recording has every process and thread by itself; its segment is to have those of
 * one name, executable and cgroup as one, but for what is told apart. */
void segment_maker_want_fold(struct writer *w, const struct apart *apart);
/* The path of a closed recording that waits; free it. */
char *segment_maker_waiting(const char *directory, int64_t from_s, int64_t to_s);
/* Those that wait in a host's directory. */
size_t segment_maker_n_waiting(const char *directory);
/* It does not matter when this process is killed or waits. */
void segment_maker_yield(void);
must_use int segment_maker_run(const struct segment_maker_settings *settings,
			       FILE *report, struct err *e);

#endif
