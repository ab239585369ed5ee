/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_deep - stacks copied as far as they go.
 *
 * A record of perf has 16 bits for its size, so a copied stack ends at 63 KB; and what it
 * is to hold is copied from every stack, be it used or not: at the main thread's, which
 * is shallow, the copy runs into the stack's end, and the fault costs more than all the
 * rest.  Registers cost perf almost a microsecond.  Where the user may load BPF programs,
 * one of ours runs at every sample and writes it instead, with the stack
 * (perf_deep_code); what is too deep for one record is in records in front of it.  The
 * pieces are of the sample's moment: nothing is guessed.  Where a thread's stack ends is
 * learned from its complete stacks, so that no more than the stack is copied.  The red
 * zone, which perf never copies, is copied from the first walk on that looked for it, for
 * it costs as much as all the rest: OpenSSL's SHA-2, for one, has its frame's address
 * there.
 */
#ifndef DWELL_COLLECT_PERF_DEEP_H
#define DWELL_COLLECT_PERF_DEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/perf_pieces.h"

/* What perf would copy itself, where ours cannot write: nothing is not possible. */
#define PERF_DEEP_DUMP_BYTES 8u

struct perf_deep;

/* n_cpus: beyond the highest id; limit_bytes: what a sample may take, at most
 * 1 MB; with_near: also memory near what registers point to, where that is possible.
 * Fails where the kernel or the user's rights do not allow it. */
must_use int perf_deep_new(uint32_t n_cpus, uint32_t limit_bytes, bool with_near,
			   struct perf_deep **ret, struct err *e);
void perf_deep_free(struct perf_deep *d); /* NULL ok */

/* The event that samples and pieces of a CPU are written to. */
must_use int perf_deep_set_output(struct perf_deep *d, uint32_t cpu, int fd,
				  struct err *e);
/* Run at the samples of an event, which is of that stream. */
must_use int perf_deep_attach(struct perf_deep *d, int fd, uint32_t stream,
			      struct err *e);

/* Of a stack, at most. */
uint32_t perf_deep_limit_bytes(const struct perf_deep *d);
/* Where the pieces go when their records are read. */
struct perf_pieces *perf_deep_pieces(struct perf_deep *d);
/* A stack of the thread was walked; end: the outermost frame's stack pointer, 0: the walk
 * did not reach it. */
void perf_deep_learn(struct perf_deep *d, uint32_t tid, uint64_t end);
/* A walk missed it: copy it from now on, of all threads. */
void perf_deep_want_red_zone(struct perf_deep *d);
bool perf_deep_has_near(const struct perf_deep *d);
/* What a sample of the process had needed of its memory: copy it from now on if that is
 * so again. */
void perf_deep_want(struct perf_deep *d, uint32_t pid, uint64_t addr);

#endif
