/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_fpe_state - the control words of this thread's floating-point units.
 *
 * In both units exceptions have the same bits, in the same order, as flags and as masks.
 */
#ifndef DWELL_INJECT_TRACE_FPE_STATE_H
#define DWELL_INJECT_TRACE_FPE_STATE_H
#if defined(__x86_64__)

#include <stdint.h>

#define TRACE_FPE_STATE_FLAGS 0x3fu
#define TRACE_FPE_STATE_MASK_SHIFT                                                       \
	7			      /* of masks in MXCSR; in the control word it is 0  \
				       */
#define TRACE_FPE_STATE_ERROR 0x80u   /* in the status word: something is pending */
#define TRACE_FPE_STATE_BUSY  0x8000u /* the same, once more */

static inline uint32_t trace_fpe_state_mxcsr(void)
{
	uint32_t v;

	__asm__ volatile("stmxcsr %0" : "=m"(v));
	return v;
}

static inline void trace_fpe_state_set_mxcsr(uint32_t v)
{
	__asm__ volatile("ldmxcsr %0" : : "m"(v));
}

static inline uint16_t trace_fpe_state_control(void)
{
	uint16_t v;

	__asm__ volatile("fnstcw %0" : "=m"(v));
	return v;
}

static inline void trace_fpe_state_set_control(uint16_t v)
{
	__asm__ volatile("fldcw %0" : : "m"(v));
}

static inline uint16_t trace_fpe_state_status(void)
{
	uint16_t v;

	__asm__ volatile("fnstsw %0" : "=m"(v));
	return v;
}

/* What is pending is handled now. */
static inline void trace_fpe_state_wait(void)
{
	__asm__ volatile("fwait" : : : "memory");
}

/* Nothing may be pending. */
static inline void trace_fpe_state_clear_status(uint16_t flags)
{
	struct {
		uint32_t control, status, rest[5];
	} env;

	__asm__ volatile("fnstenv %0" : "=m"(env));
	env.status &= ~(uint32_t)flags;
	__asm__ volatile("fldenv %0" : : "m"(env));
}

#endif
#endif
