/* SPDX-License-Identifier: Apache-2.0
 *
 * modules - tells the recorder about each loaded object before its first frame.
 *
 * With _dl_find_object (glibc 2.35) that happens when a frame of the object is first
 * seen, from the signal handler, without a lock or a system call; it needs nothing at
 * start and sees dlopen.  Elsewhere all objects are told at start, and what is loaded
 * later the recorder finds in /proc.  The program itself and the vDSO come before all
 * others, with the first sample where that is possible.
 */
#ifndef DWELL_INJECT_MODULES_H
#define DWELL_INJECT_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/loaded.h"
#include "inject/ring.h"

/* Tell the program and the vDSO, which may be NULL; false when the ring is full.  Again
 * does no harm. */
bool modules_begin(struct ring *ring, const struct loaded *program, const void *vdso);
/* At start, not from a signal handler: all others where samples cannot tell them. */
void modules_list(struct ring *ring);
/* Where an address is in the object that holds it: where some code of that is, and the
 * address as it was linked.  False: it is in none, or that cannot be known without a
 * lock. */
bool modules_place(uintptr_t address, uint64_t *ret_code, uint64_t *ret_linked);
/* Tell what holds these addresses; false when the ring is full. */
bool modules_tell(struct ring *ring, const uintptr_t *pcs, size_t n);

#endif
