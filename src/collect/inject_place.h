/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_place - where the library lies in a process: pages of what it is told, its
 * code and data, and a stack for its entries, at addresses that nobody else asks for.
 *
 * What was left there by an earlier recorder is used again, once no thread is within.
 */
#ifndef DWELL_COLLECT_INJECT_PLACE_H
#define DWELL_COLLECT_INJECT_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/inject_memory.h"

/* A word of which a program writes a small number over the lower half, as to a stale
 * word on its stack, is no address there. */
#define INJECT_PLACE_FIRST  UINT64_C(0x468040000000)
#define INJECT_PLACE_STRIDE (UINT64_C(64) << 20)
#define INJECT_PLACE_N	    16
#define INJECT_PLACE_END    (INJECT_PLACE_FIRST + INJECT_PLACE_N * INJECT_PLACE_STRIDE)

/* Bytes before the library and behind it. */
#define INJECT_PLACE_HEAD  (UINT64_C(4) * 4096)
#define INJECT_PLACE_STACK (UINT64_C(64) << 10)

struct inject_place {
	uint64_t at;	/* of the whole */
	bool is_mapped; /* by an earlier recorder, with the same library */
};

/* The first to use from at on.  maps: the text of /proc/PID/maps; library: a checksum. */
must_use int inject_place_choose(const struct inject_memory *m, uint64_t at,
				 const char *maps, size_t maps_bytes, uint64_t library,
				 struct inject_place *ret, struct err *e);
/* The call to which a wrapper passes on, which is at an address of some place; 0: none.
 */
uint64_t inject_place_leads_to(const struct inject_memory *m, uint64_t at,
			       const char *name);
/* Are its calls led by that recorder? */
bool inject_place_is_led(const struct inject_memory *m, pid_t by);

#endif
