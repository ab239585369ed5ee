/* SPDX-License-Identifier: Apache-2.0 */
#include "count/native.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <stdbool.h>
#include <string.h>

#include "bare/sys.h"

#define STATE_FLAGS 7 /* it has vector registers, and ss is meant */
#define CODE_64	    0x33
#define STACK_64    0x2b

/* Of the CPU's sets of registers: tiles, which no process has unless it asks, and then it
 * has others' functions save them around calls. */
#define TILES	     (3ULL << 17)
#define LEGACY_BYTES 512
#define HEADER_BYTES 64
#define HAS_OSXSAVE  (1u << 27)

/* What the kernel looks for in a frame: struct _fpx_sw_bytes, and an end. */
#define TOLD_OFF 464
#define MAGIC	 0x46505853u
#define MAGIC_2	 0x46505845u

struct told {
	uint32_t magic, bytes_with_end;
	uint64_t sets;
	uint32_t bytes, pad[7];
};

static uint64_t enabled_sets(void)
{
	uint32_t a, b, c, d;

	__cpuid(1, a, b, c, d);
	if (!(c & HAS_OSXSAVE))
		return 0;
	__asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
	return ((uint64_t)d << 32 | a) & ~TILES;
}

static uint32_t bytes_of(uint64_t sets)
{
	uint32_t end = LEGACY_BYTES + HEADER_BYTES, a, b, c, d;

	for (unsigned i = 2; i < 63; i++) {
		if (!(sets >> i & 1))
			continue;
		__cpuid_count(0xd, i, a, b, c, d);
		end = a + b > end ? a + b : end;
	}
	return end;
}

static void save(struct native_room *room)
{
	uint64_t sets = enabled_sets();
	uint32_t bytes = bytes_of(sets);
	struct told told = {
		.magic = MAGIC, .bytes_with_end = bytes + 4, .sets = sets, .bytes = bytes
	};

	if (!sets || bytes + 4 > sizeof(room->xstate)) {
		__asm__ volatile("fxsave64 %0" : "+m"(room->xstate));
		return;
	}
	__asm__ volatile("xsave64 %0"
			 : "+m"(room->xstate)
			 : "a"((uint32_t)sets), "d"((uint32_t)(sets >> 32)));
	memcpy(room->xstate + TOLD_OFF, &told, sizeof(told));
	memcpy(room->xstate + bytes, &(uint32_t){ MAGIC_2 }, 4);
}

_Noreturn void crossing_return(const struct signal_state *s);

void native_go(const struct count_control_regs *r, uint64_t mask,
	       const struct signal_stack *stack, struct native_room *room)
{
	memset(room, 0, sizeof(*room));
	room->state = (struct signal_state){ .flags = STATE_FLAGS,
					     .stack = *stack,
					     .ip = r->ip,
					     .cpu_flags = r->flags,
					     .cs = CODE_64,
					     .ss = STACK_64,
					     .xstate = (uint64_t)room->xstate,
					     .mask = mask };
	signal_state_put(&room->state, r->regs);
	save(room);
	sys_call(SYS_arch_prctl, ARCH_SET_GS, r->gs_base, 0, 0, 0, 0);
	crossing_return(&room->state);
}
