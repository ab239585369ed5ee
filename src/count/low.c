/* SPDX-License-Identifier: Apache-2.0 */
#include "count/low.h"

#include <sys/mman.h>

#include "count/fatal.h"
#include "count/reserve.h"

/* From above, for programs without PIE have theirs, and their heap, below. */
#define HIGHEST 0x7fe00000u
#define LOWEST	0x01000000u
#define STEP	0x00100000u

struct low *low;

extern const char crossing_out[]; /* crossing.S */

void *low_reserve(size_t bytes)
{
	void *p = NULL;

	for (uint64_t addr = HIGHEST; addr >= LOWEST && !p; addr -= STEP)
		p = reserve_at(addr, bytes, PROT_READ | PROT_WRITE);
	if (!p)
		fatal("no free memory below 2 GB, which counting needs");
	return p;
}

void low_init(void)
{
	low = low_reserve(sizeof(*low));
	low->out = (uint64_t)crossing_out;
}
