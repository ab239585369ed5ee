/* SPDX-License-Identifier: Apache-2.0 */
#include "count/low.h"

#include <sys/mman.h>

#include "count/fatal.h"
#include "count/reserve.h"

/* From above, for programs without PIE have theirs, and their heap, below. */
#define HIGHEST 0x7fe00000u
#define LOWEST	0x01000000u
#define STEP	0x01000000u

struct low *low;

extern const char crossing_out[]; /* crossing.S */

void low_init(void)
{
	for (uint64_t addr = HIGHEST; addr >= LOWEST && !low; addr -= STEP)
		low = reserve_at(addr, sizeof(*low), PROT_READ | PROT_WRITE);
	if (!low)
		fatal("no free memory below 2 GB, which counting needs");
	low->out = (uint64_t)crossing_out;
}
