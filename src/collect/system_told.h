/* SPDX-License-Identifier: Apache-2.0
 *
 * system_told - what the numbers of sums stand for, in a map of the kernel.
 *
 * The kernel's side tells it once.  Who goes on after this process was killed finds there
 * the records of each of the two tables (system_counts), as long as the ledger says that
 * they were.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_TOLD_H
#define DWELL_COLLECT_SYSTEM_TOLD_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"

struct system_told;

#define SYSTEM_TOLD "told" /* what the map is pinned as */

/* The descriptor of a map for it. */
must_use int system_told_make(struct err *e);
/* Of that map, which is borrowed, with so many bytes of each table. */
struct system_told *system_told_new(int fd, const uint64_t n_bytes[2]);
void system_told_free(struct system_told *t);
void system_told_freep(struct system_told **t);

/* A table is that now: more than before, or, when it was cleared, another.  Returns how
 * much of it is there; the rest did not fit. */
uint64_t system_told_put(struct system_told *t, unsigned table, const void *data,
			 size_t size);
/* What was put is in the ledger: what it replaced goes. */
void system_told_trim(struct system_told *t);
/* What there was at first. */
void system_told_read(const struct system_told *t, unsigned table, struct buf *ret);

#endif
