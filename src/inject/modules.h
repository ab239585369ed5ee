/* SPDX-License-Identifier: Apache-2.0
 *
 * modules - tells the recorder about each loaded object before its first frame.
 *
 * With _dl_find_object (glibc 2.35) that happens when a frame of the object is first
 * seen, from the signal handler, without a lock or a system call; it needs nothing at
 * start and sees dlopen.  Elsewhere all objects are told at start, and what is loaded
 * later the recorder finds in /proc.
 */
#ifndef DWELL_INJECT_MODULES_H
#define DWELL_INJECT_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/loaded.h"
#include "inject/ring.h"

/* At start and not from a signal handler.  vdso may be NULL. */
void modules_start(struct ring *ring, const struct loaded *program, const void *vdso);
/* Tell what holds these pcs; false when the ring is full. */
bool modules_tell(struct ring *ring, const uintptr_t *pcs, size_t n);

#endif
