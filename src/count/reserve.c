/* SPDX-License-Identifier: Apache-2.0 */
#include "count/reserve.h"

#include "bare/sys.h"
#include "count/fatal.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

void *reserve_at(uint64_t addr, size_t bytes, int prot)
{
	long p =
		sys_call(SYS_mmap, addr, bytes, prot, FLAGS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p < 0 && p > -4096)
		return NULL;
	if ((uint64_t)p != addr) { /* kernels before 4.17 take it for a hint */
		sys_unmap((void *)p, bytes);
		return NULL;
	}
	return (void *)p;
}

/* Far from where programs have their code: around that, translated code needs the room.
 */
static uint64_t next = 0x480000000000ULL;

#define GAP 0x1000

void *reserve(size_t bytes)
{
	uint64_t addr = __atomic_fetch_add(&next, (bytes + 2 * GAP - 1) & -(uint64_t)GAP,
					   __ATOMIC_RELAXED);
	void *p = reserve_at(addr, bytes, PROT_READ | PROT_WRITE);

	if (!p)
		p = sys_map(bytes, FLAGS, -1);
	if (!p)
		fatal("no address space for the engine's tables");
	return p;
}
