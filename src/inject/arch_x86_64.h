/* SPDX-License-Identifier: Apache-2.0
 *
 * arch_x86_64 - included by inject/arch.h only.
 */
#ifndef DWELL_INJECT_ARCH_X86_64_H
#define DWELL_INJECT_ARCH_X86_64_H
#if defined(__x86_64__)

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "inject/arch_call.h"

static inline uintptr_t arch_thread_pointer(void)
{
	uintptr_t tp;

	__asm__("mov %%fs:0, %0" : "=r"(tp));
	return tp;
}

#define ARCH_HAS_RESTORER 1

/* The bytes by which unwinders know a signal frame: mov $15, %rax; syscall. */
__attribute__((visibility("hidden"))) extern const char arch_restorer[];

#define ARCH_RESTORER_DEFINE                                                             \
	__asm__(".text\n"                                                                \
		".balign 16\n"                                                           \
		".hidden arch_restorer\n"                                                \
		".globl arch_restorer\n"                                                 \
		".type arch_restorer, @function\n"                                       \
		"nop\n"                                                                  \
		"arch_restorer:\n"                                                       \
		".byte 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05\n"                    \
		".size arch_restorer, . - arch_restorer\n")

static inline uintptr_t arch_pc(const ucontext_t *uc)
{
	return (uintptr_t)uc->uc_mcontext.gregs[REG_RIP];
}

static inline uintptr_t arch_sp(const ucontext_t *uc)
{
	return (uintptr_t)uc->uc_mcontext.gregs[REG_RSP];
}

static inline void arch_call_on(void *stack, void (*f)(void *), void *arg)
{
	__asm__ volatile("mov %%rsp, %%rbx\n\t"
			 "mov %[stack], %%rsp\n\t"
			 "call *%[f]\n\t"
			 "mov %%rbx, %%rsp"
			 : "+D"(arg), [f] "+a"(f), [stack] "+c"(stack)
			 :
			 : "rbx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1",
			   "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
			   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory",
			   "cc");
}

/* Nothing is left of a call that has just returned to be taken for one under way: who
 * waits for ever further in may never write there. */
static inline void arch_forget_call(void)
{
	__asm__ volatile("movq $0, -8(%%rsp)" ::: "memory");
}

/* A function that goes on in what before(second argument, frame) returns, with the
 * arguments that it had and nothing of it on the stack. */
#define ARCH_PASS_DEFINE(name, before)                                                   \
	__asm__(".text\n"                                                                \
		".balign 16\n"                                                           \
		".globl " #name "\n"                                                     \
		".type " #name ", @function\n" #name ":\n"                               \
		"endbr64\n"                                                              \
		"push %rbp\n"                                                            \
		"mov %rsp, %rbp\n"                                                       \
		"push %rdi\n"                                                            \
		"push %rsi\n"                                                            \
		"push %rdx\n"                                                            \
		"push %rcx\n"                                                            \
		"mov %rsi, %rdi\n"                                                       \
		"mov %rbp, %rsi\n"                                                       \
		"call " #before "\n"                                                     \
		"movq $0, -8(%rsp)\n" /* as arch_forget_call() */                        \
		"pop %rcx\n"                                                             \
		"pop %rdx\n"                                                             \
		"pop %rsi\n"                                                             \
		"pop %rdi\n"                                                             \
		"pop %rbp\n"                                                             \
		"jmp *%rax\n"                                                            \
		".size " #name ", . - " #name "\n")

/* The instruction leaves its own return address in rcx, so registers tell a call that
 * has just returned, or that the kernel has set back to be made again. */
static inline enum arch_call arch_call(const ucontext_t *uc)
{
	const greg_t *r = uc->uc_mcontext.gregs;
	const uint8_t *pc = (const uint8_t *)r[REG_RIP];

	if (r[REG_RCX] == r[REG_RIP] && r[REG_RAX] == -EINTR)
		return ARCH_CALL_INTERRUPTED;
	if (r[REG_RCX] == r[REG_RIP] + 2 && pc[0] == 0x0f && pc[1] == 0x05)
		return ARCH_CALL_AGAIN;
	return ARCH_CALL_NONE;
}

/* The number is overwritten by the result, but nearly every caller loads it by the
 * instruction before. */
static inline int arch_call_number(const ucontext_t *uc)
{
	const uint8_t *pc = (const uint8_t *)uc->uc_mcontext.gregs[REG_RIP];
	uint32_t nr;

	if (((uintptr_t)pc & 4095) < 7 || pc[-2] != 0x0f || pc[-1] != 0x05 ||
	    pc[-7] != 0xb8) /* mov $nr, %eax */
		return -1;
	memcpy(&nr, pc - 6, sizeof(nr));
	return nr < 4096 ? (int)nr : -1;
}

static inline void arch_call_again(ucontext_t *uc, int nr)
{
	uc->uc_mcontext.gregs[REG_RAX] = nr;
	uc->uc_mcontext.gregs[REG_RIP] -= 2;
}

static inline void arch_call_fail(ucontext_t *uc)
{
	uc->uc_mcontext.gregs[REG_RAX] = -EINTR;
	uc->uc_mcontext.gregs[REG_RIP] += 2;
}

#endif
#endif
