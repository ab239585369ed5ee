/* SPDX-License-Identifier: Apache-2.0
 *
 * damage - what is wrong with a recording, gathered into one line.
 *
 * The first finding is told in full, later ones are counted.  Zero-initialise.
 */
#ifndef DWELL_STORE_DAMAGE_H
#define DWELL_STORE_DAMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct damage {
	size_t n_findings;
	uint64_t n_samples; /* in data blocks that cannot be read */
	char first[200];
	char line[400];
};

/* A finding that says where: "damaged at byte 123: …". */
void damage_note(struct damage *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The line, or NULL: nothing is wrong. */
const char *damage_line(struct damage *d, bool is_closed, uint64_t whole_bytes);
/* Goes on with the line, where there is one. */
void damage_add(struct damage *d, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
