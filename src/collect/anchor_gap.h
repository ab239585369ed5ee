/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_gap - where in a process there is room for memory that code can jump to.
 */
#ifndef DWELL_COLLECT_ANCHOR_GAP_H
#define DWELL_COLLECT_ANCHOR_GAP_H

#include <stddef.h>
#include <stdint.h>

/* So far a direct jump reaches, and the size of what is to be reached less. */
#define ANCHOR_GAP_REACH 0x7ff00000ULL

/* By the text of /proc/PID/maps: the nearest room below addr, 0: none.  It touches no
 * other memory, so that nothing is kept from growing by it. */
uint64_t anchor_gap_find(const char *maps, size_t n, uint64_t addr, uint64_t bytes);

#endif
