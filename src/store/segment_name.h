/* SPDX-License-Identifier: Apache-2.0
 *
 * segment_name - the name of a database's segment: which time and which writes it holds.
 *
 *	20261121T101500-20261121T102500.17.dwell	the 17th of its epoch
 *	20261121T101500-20261121T111500.17-22.dwell	the 17th to the 22nd, merged
 *
 * Times are UTC, from the first second to the last.  The numbers tell what a merged
 * segment replaces, so that a reader counts everything once while both are there.
 */
#ifndef DWELL_STORE_SEGMENT_NAME_H
#define DWELL_STORE_SEGMENT_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define SEGMENT_NAME_MAX 96

struct segment_name {
	int64_t from_s, to_s;
	uint32_t first, last; /* numbers, counted from 1 */
};

char *segment_name_text(char out[SEGMENT_NAME_MAX], const struct segment_name *n);
/* False: this is no segment's name. */
bool segment_name_parse(const char *s, struct segment_name *ret);
/* a holds all that b has, and is another one. */
bool segment_name_covers(const struct segment_name *a, const struct segment_name *b);

#endif
