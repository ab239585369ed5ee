/* SPDX-License-Identifier: Apache-2.0
 *
 * meeting - where this process meets the recorder: the control file and a ring.
 */
#ifndef DWELL_INJECT_MEETING_H
#define DWELL_INJECT_MEETING_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/ring.h"

struct meeting {
	struct wire_sampler_control *control; /* NULL: none */
	void *rings; /* the control file's first, for children; NULL: not mapped */
	uint32_t n_rings;
	char directory[WIRE_SAMPLER_DIRECTORY_MAX];
};

/* Map the control file of a directory.  Gives the file back open, or -1. */
int meeting_open(struct meeting *m, const char *directory);
/* Has the recorder certainly gone without a word?  It holds a lock on the control file.
 */
bool meeting_is_deserted(const struct meeting *m);
/* A ring for this process image, which begins with a start record; the recorder looks at
 * it once its magic is there.  After a fork control_fd is -1: the file is opened anew. */
bool meeting_ring(const struct meeting *m, int control_fd,
		  const struct wire_sampler_start *start, struct ring *ret);
/* Map rings of the control file, so that forked children have theirs at once. */
void meeting_map_rings(struct meeting *m);
/* The calling thread's name. */
void meeting_comm(char ret[16]);

#endif
