/* SPDX-License-Identifier: Apache-2.0
 *
 * accesses - which places in memory instructions accessed right after samples.
 *
 * The way that a sample's registers tell (decode/forward) has the addresses of operands:
 * of each instruction it is kept how many lines and pages they were in, how far from each
 * other, and between which.  Sums per process and instruction are kept until they are
 * written; addresses are not, but the first and the last.
 */
#ifndef DWELL_COLLECT_ACCESSES_H
#define DWELL_COLLECT_ACCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "decode/forward.h"

struct accesses;
struct writer;

/* The location in the recording of an address of code. */
typedef uint32_t accesses_location_fn(void *ctx, uint64_t ip);

struct accesses *accesses_new(void);
void accesses_free(struct accesses *a); /* NULL ok */

/* count: samples that saw the same. */
void accesses_take(struct accesses *a, uint32_t process, const struct forward_path *path,
		   uint32_t count, accesses_location_fn *location, void *ctx);
/* There are so many instructions that the sums are to be written. */
bool accesses_are_full(const struct accesses *a);
/* Put the sums into the recording, and begin anew. */
void accesses_write(struct accesses *a, struct writer *w);

#endif
