/* SPDX-License-Identifier: Apache-2.0
 *
 * takeover - a process that already runs becomes one that is counted.
 *
 * All its threads are stopped by the recorder, and one of them has been led here, with
 * signals blocked.  When the engine is ready the recorder leads each thread to its
 * context.
 */
#ifndef DWELL_COUNT_TAKEOVER_H
#define DWELL_COUNT_TAKEOVER_H

#include <elf.h>
#include <stdint.h>

#include "wire/count_control.h"

struct context;

/* From the engine's entry: begin.S. */
_Noreturn void takeover_begin(struct count_control *k, const Elf64_Dyn *dynamic,
			      uint64_t base);

/* A thread comes with its context, and goes on at the code that is returned:
 * crossing.S. */
const void *takeover_thread(struct context *c);

#endif
