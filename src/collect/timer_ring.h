/* SPDX-License-Identifier: Apache-2.0
 *
 * timer_ring - the recorder's side of a ring file (wire/sampler.h).
 *
 * The file belongs to the target: it is read by pread, never mapped, so a target that
 * cuts it short costs its own samples and nothing else.
 */
#ifndef DWELL_COLLECT_TIMER_RING_H
#define DWELL_COLLECT_TIMER_RING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/timer_record.h"

struct timer_ring;

/* What the records of a ring are handed to. */
typedef void timer_ring_fn(void *ctx, const struct timer_record *record);

/* Walk committed records in memory: bytes is what lies from position on.  Returns how
 * many bytes are done with; what is not committed yet stops the walk, or is passed
 * over when is_final.  *damaged counts records that made no sense. */
size_t timer_ring_walk(struct timer_record_stacks *stacks, const uint8_t *bytes,
		       size_t size, uint64_t position, bool is_final, timer_ring_fn *fn,
		       void *ctx, uint64_t *damaged);

/* ERR_UNSUPPORTED while the target still prepares the file. */
must_use int timer_ring_open(int directory, const char *name, uid_t owner,
			     struct timer_ring **ret, struct err *e);
/* One of the control file's, which must stay open. */
must_use int timer_ring_open_claimed(int control_fd, uint32_t i, uint64_t ring_bytes,
				     struct timer_ring **ret, struct err *e);
/* Its process is gone: what it claimed is free again. */
void timer_ring_give_back(struct timer_ring *r);
/* The same of one that was never opened. */
void timer_ring_reclaim(int control_fd, uint32_t i, uint64_t ring_bytes);
/* Which of the control file's, or WIRE_SAMPLER_N_RINGS_MAX: a file of its own. */
uint32_t timer_ring_claim(const struct timer_ring *r);
void timer_ring_free(struct timer_ring *r);
void timer_ring_freep(struct timer_ring **r);

/* Hand over all that is there, and give the room back; is_final: nobody writes.  A record
 * that is begun is waited for, but not for ever when others are lost meanwhile: it counts
 * as damaged then. */
must_use int timer_ring_drain(struct timer_ring *r, uint64_t now_ns, bool is_final,
			      timer_ring_fn *fn, void *ctx, struct err *e);
/* The header as it was last read. */
const struct wire_sampler_ring *timer_ring_header(const struct timer_ring *r);
/* What the i-th of so many threads of a tracer waits for just now; false: for nothing. */
uint32_t timer_ring_n_waiting(const struct timer_ring *r);
bool timer_ring_waiting(const struct timer_ring *r, uint32_t i,
			struct wire_tracer_waiting *ret);
uint64_t timer_ring_damaged(const struct timer_ring *r);
/* enum wire_sampler_request */
void timer_ring_request(struct timer_ring *r, uint32_t what);

#endif
