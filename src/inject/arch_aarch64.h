/* SPDX-License-Identifier: Apache-2.0
 *
 * arch_aarch64 - included by inject/arch.h only.
 */
#ifndef DWELL_INJECT_ARCH_AARCH64_H
#define DWELL_INJECT_ARCH_AARCH64_H
#if defined(__aarch64__)

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "inject/arch_call.h"

static inline uintptr_t arch_thread_pointer(void)
{
	uintptr_t tp;

	__asm__("mrs %0, tpidr_el0" : "=r"(tp));
	return tp;
}

/* The kernel provides the return path in the vDSO. */
#define ARCH_HAS_RESTORER    0
#define arch_restorer	     NULL
#define ARCH_RESTORER_DEFINE struct arch_restorer_is_in_the_vdso

static inline uintptr_t arch_pc(const ucontext_t *uc)
{
	return uc->uc_mcontext.pc;
}

static inline uintptr_t arch_sp(const ucontext_t *uc)
{
	return uc->uc_mcontext.sp;
}

static inline void arch_call_on(void *stack, void (*f)(void *), void *arg)
{
	register void *x0 __asm__("x0") = arg;
	register void *x1 __asm__("x1") = stack;
	register void (*x2)(void *) __asm__("x2") = f;

	__asm__ volatile("mov x19, sp\n\t"
			 "mov sp, x1\n\t"
			 "blr x2\n\t"
			 "mov sp, x19"
			 : "+r"(x0), "+r"(x1), "+r"(x2)
			 :
			 : "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
			   "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x30", "v0",
			   "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10",
			   "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19",
			   "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
			   "v29", "v30", "v31", "memory", "cc");
}

#define ARCH_SVC 0xd4000001u /* svc #0 */

/* A context that stands at the instruction without having made the call looks the same
 * as one set back to make it again; to fail it is right in both cases, as it is only
 * done when another signal is pending. */
static inline enum arch_call arch_call(const ucontext_t *uc)
{
	const uint32_t *pc = (const uint32_t *)uc->uc_mcontext.pc;

	if ((long)uc->uc_mcontext.regs[0] == -EINTR && pc[-1] == ARCH_SVC)
		return ARCH_CALL_INTERRUPTED;
	return *pc == ARCH_SVC ? ARCH_CALL_AGAIN : ARCH_CALL_NONE;
}

/* The result overwrites the first argument in x0, so no call can be made again. */
static inline int arch_call_number(const ucontext_t *uc)
{
	(void)uc;
	return -1;
}

static inline void arch_call_again(ucontext_t *uc, int nr)
{
	(void)uc;
	(void)nr;
}

static inline void arch_call_fail(ucontext_t *uc)
{
	uc->uc_mcontext.regs[0] = (unsigned long long)-EINTR;
	uc->uc_mcontext.pc += 4;
}

#endif
#endif
