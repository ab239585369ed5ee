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

/* One thread while no other is with the engine, and none is to be for some time. */
_Noreturn void takeover_rest(struct count_control *k);
/* A thread that the recorder has left where it is, though others are native. */
_Noreturn void takeover_undo(const struct count_control_regs *native, uint64_t mask);
/* As takeover_begin(), where the engine rests: what it knows of the program's code is
 * good as far as that is as it was. */
_Noreturn void takeover_again(struct count_control *k);

/* A thread comes with its context, and goes on at the code that is returned:
 * crossing.S. */
const void *takeover_thread(struct context *c);

#endif
