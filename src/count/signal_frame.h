/* SPDX-License-Identifier: Apache-2.0
 *
 * signal_frame - what the kernel leaves on the stack for a handler, and takes back.
 */
#ifndef DWELL_COUNT_SIGNAL_FRAME_H
#define DWELL_COUNT_SIGNAL_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "count/signals.h"

#define SIGNAL_STATE_HAS_XSTATE 1 /* of its flags */

struct signal_state {
	uint64_t flags, link;
	struct signal_stack stack;
	uint64_t regs[16]; /* in an order of the kernel's */
	uint64_t ip, cpu_flags;
	uint16_t cs, gs, fs, ss;
	uint64_t error, trap, old_mask, fault_addr;
	uint64_t xstate; /* address of vector registers and the like, or 0: as new */
	uint64_t reserved[8];
	uint64_t mask;
};

struct signal_info {
	int signal, error, code, pad;
	uint64_t addr; /* of faults */
	uint8_t rest[104];
};

struct signal_frame {
	uint64_t restorer;
	struct signal_state state;
	struct signal_info info;
};

_Static_assert(sizeof(struct signal_stack) == 24 && sizeof(struct signal_state) == 304 &&
		       sizeof(struct signal_frame) == 440,
	       "as the kernel has them");

#define SIGNAL_XSTATE_ALIGN 64
#define SIGNAL_RED_ZONE	    128

static inline size_t signal_xstate_bytes(uint64_t xstate)
{
	const uint32_t *told = (const uint32_t *)(xstate + 464);

	if (!xstate)
		return 0;
	return told[0] == 0x46505853 ? told[1] : 512;
}

/* The numbers that the instruction set has for them. */
static const uint8_t signal_state_order[16] = { 8, 9, 10, 11, 12, 13, 14, 15,
						7, 6, 5,  3,  2,  0,  1,  4 };

static inline void signal_state_get(const struct signal_state *s, uint64_t *regs)
{
	for (unsigned i = 0; i < 16; i++)
		regs[signal_state_order[i]] = s->regs[i];
}

static inline uint64_t signal_state_sp(const struct signal_state *s)
{
	return s->regs[15];
}

/* Of a system call. */
static inline void signal_state_set_result(struct signal_state *s, long result)
{
	s->regs[13] = (uint64_t)result;
}

static inline void signal_state_put(struct signal_state *s, const uint64_t *regs)
{
	for (unsigned i = 0; i < 16; i++)
		s->regs[i] = regs[signal_state_order[i]];
}

#endif
