/* SPDX-License-Identifier: Apache-2.0
 *
 * segment_symbols - the kernel's symbols for a recording that was closed without them.
 */
#ifndef DWELL_COLLECT_SEGMENT_SYMBOLS_H
#define DWELL_COLLECT_SEGMENT_SYMBOLS_H

struct recording;
struct tally;

/* Adds the symbols of the kernel's locations in r, if this is the boot it was made in. */
void segment_symbols_add(struct tally *t, const struct recording *r);

#endif
