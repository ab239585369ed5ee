/* SPDX-License-Identifier: Apache-2.0
 *
 * local - walk the stack of the calling thread, inside the target.
 *
 * Async-signal-safe and freestanding: no allocation, no lock, no libc call but
 * _dl_find_object where there is one.  Rows are interpreted lazily per frame and kept
 * in the caller's per-thread cache, which also holds the thread's last stack: once a
 * frame matches it, the rest is verified by loads instead of unwound.
 */
#ifndef DWELL_UNWIND_LOCAL_H
#define DWELL_UNWIND_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/stop.h"

#define UNWIND_LOCAL_DEPTH_MAX 1024

/* Size of the zeroed per-thread memory that unwind_local() needs. */
size_t unwind_local_cache_bytes(void);
/* At most so many, where there must be room before it is known. */
#define UNWIND_LOCAL_CACHE_MAX (512 << 10)

struct unwind_local_cache;

/* Modules loaded now; call again after dlopen (needed where _dl_find_object is absent)
 * and after dlclose (needed always: what caches know of its code is forgotten).
 * Not async-signal-safe. */
void unwind_local_refresh(void);

/* Walk from a signal's ucontext (or, NULL, from the caller of this function).
 * stack_lo/hi bound what may be read; outside of it reads are guarded.  pcs[0] is the
 * innermost; bit i of exact[] set when pcs[i] is an interrupted instruction and not a
 * return address.  Returns the number of frames. */
size_t unwind_local(struct unwind_local_cache *cache, const void *ucontext,
		    uintptr_t stack_lo, uintptr_t stack_hi, uintptr_t *pcs,
		    uint8_t exact[UNWIND_LOCAL_DEPTH_MAX / 8], size_t max,
		    enum unwind_stop *ret_stop);

/* Walk from the caller of a function whose frame pointer is given, who is among the
 * callers of this one: where that is enough to go by the frames between are left out, and
 * else they are there. */
size_t unwind_local_from(struct unwind_local_cache *cache, const uint64_t *frame,
			 uintptr_t stack_lo, uintptr_t stack_hi, uintptr_t *pcs,
			 uint8_t exact[UNWIND_LOCAL_DEPTH_MAX / 8], size_t max,
			 enum unwind_stop *ret_stop);

/* The name that unwind_local_keep() gave the stack that unwind_local_from() would find,
 * to the same owner; 0: it must be walked.  whose is not 0. */
uint64_t unwind_local_known(struct unwind_local_cache *cache, const uint64_t *frame,
			    uint64_t whose);
/* The stack that unwind_local_from() has just found has this name. */
void unwind_local_keep(struct unwind_local_cache *cache, const uint64_t *frame,
		       uintptr_t stack_hi, uint64_t whose, uint64_t name);

/* How many of the outermost frames of the last walk are the very activations that ended
 * the walk before it: whoever keeps ids of stack prefixes need not look them up again. */
size_t unwind_local_unchanged(const struct unwind_local_cache *cache);

#endif
