/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_resume.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RED_ZONE 128

/* The kernel's, which its own headers only have beside names of the C library's. */
#define UC_FP_XSTATE	 1ul
#define FP_XSTATE_MAGIC1 0x46505853u
#define SS_AUTODISARM	 INT32_MIN
#define SELECTORS	 UINT64_C(0xffff00000000ffff) /* of the stack's and the code's */
#define SELECTORS_64	 UINT64_C(0x002b000000000033)

/* What is added up and compared with, the direction, what is always set and what the
 * kernel sets at a fault: not a step, nor checks of alignment, which would be of ours. */
#define FLAGS_USUAL UINT64_C(0x10ed7)

#define LEAF_XSAVE     0xd
#define COMPONENT_PKRU 9
#define HAS_PKRU(x)    ((x) >> COMPONENT_PKRU & 1)

/* Where the kernel tells what it has written (struct _fpx_sw_bytes), and of that what is
 * in use. */
enum { MAGIC_OFF = 464, FEATURES_OFF = 472, IN_USE_OFF = 512 };

static uint32_t half_at(const void *state, size_t off)
{
	return *(const uint32_t *)(const void *)((const char *)state + off);
}

static uint64_t word_at(const void *state, size_t off)
{
	return *(const uint64_t *)(const void *)((const char *)state + off);
}

static bool has_shadow_stack(void)
{
	uint64_t at = 0;

	__asm__ volatile("rdsspq %0"
			 : "+r"(at)); /* nothing is done where there is none */
	return at != 0;
}

static uint32_t pkru_now(void)
{
	uint32_t v;

	__asm__ volatile("rdpkru" : "=a"(v) : "c"(0) : "edx");
	return v;
}

/* Asked for once, as virtual machines take long to answer. */
static uint32_t pkru_offset(void)
{
	static uint32_t known;
	uint32_t at = __atomic_load_n(&known, __ATOMIC_RELAXED);
	uint32_t size = LEAF_XSAVE, n = COMPONENT_PKRU, unused;

	if (at)
		return at;
	__asm__ volatile("cpuid" : "+a"(size), "=b"(at), "+c"(n), "=d"(unused));
	__atomic_store_n(&known, at, __ATOMIC_RELAXED);
	return at;
}

/* Else the frame might not be readable any more with the rights of before. */
static bool has_same_rights(const void *state)
{
	uint32_t was = 0;

	if (!HAS_PKRU(word_at(state, FEATURES_OFF)))
		return true;
	if (HAS_PKRU(word_at(state, IN_USE_OFF)))
		was = half_at(state, pkru_offset());
	return was == pkru_now();
}

static bool is_usual(const ucontext_t *uc)
{
	const greg_t *r = uc->uc_mcontext.gregs;

	return uc->uc_flags & UC_FP_XSTATE && uc->uc_mcontext.fpregs &&
	       !(uc->uc_stack.ss_flags & SS_AUTODISARM) &&
	       ((uint64_t)r[REG_CSGSFS] & SELECTORS) == SELECTORS_64 &&
	       !((uint64_t)r[REG_EFL] & ~FLAGS_USUAL);
}

/* The frame may be right below, so that what is written there is above all of it that is
 * still read: behind xrstor64 that is the registers, in the kernel's order.  Then they
 * are taken from there, the stack pointer at last by the return. */
__attribute__((noreturn, visibility("hidden"))) void
trace_resume_now(const greg_t *registers, const void *mask, const void *state,
		 uint64_t features, uint64_t *end);

_Static_assert(REG_R8 == 0 && REG_R15 == 7 && REG_RDI == 8 && REG_RSI == 9 &&
		       REG_RBP == 10 && REG_RBX == 11 && REG_RDX == 12 && REG_RAX == 13 &&
		       REG_RCX == 14 && REG_RSP == 15 && REG_RIP == 16 && REG_EFL == 17,
	       "as the code has it");
_Static_assert(TRACE_RESUME_BYTES == RED_ZONE + 18 * 8, "as the code has it");

#define REGISTERS "r8,r9,r10,r11,r12,r13,r14,r15,rdi,rsi,rbp,rbx,rdx,rax,rcx"

__asm__(".text\n"
	".balign 16\n"
	".hidden trace_resume_now\n"
	".globl trace_resume_now\n"
	".type trace_resume_now, @function\n"
	"trace_resume_now:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"mov %rdx, %r9\n"
	"mov %rcx, %rdx\n"
	"shr $32, %rdx\n"
	"mov %ecx, %eax\n"
	"xrstor64 (%r9)\n"
	"mov (%rsi), %rax\n"
	"mov %rax, -144(%r8)\n"
	".set at, 0\n"
	".rept 15\n"
	"mov at(%rdi), %rax\n"
	"mov %rax, at-136(%r8)\n"
	".set at, at+8\n"
	".endr\n"
	"mov 136(%rdi), %rax\n"
	"mov %rax, -16(%r8)\n"
	"mov 128(%rdi), %rax\n"
	"mov %rax, -8(%r8)\n"
	"lea -144(%r8), %rsp\n"
	".cfi_endproc\n"
	/* From here on who looks sees a frame whose caller is the interrupted place. */
	".cfi_startproc\n"
	".cfi_signal_frame\n"
	".cfi_def_cfa rsp, 272\n"
	".set at, -264\n"
	".irp name," REGISTERS "\n"
	".cfi_offset \\name, at\n"
	".set at, at+8\n"
	".endr\n"
	".cfi_offset rip, -136\n"
	"mov $2, %edi\n" /* SIG_SETMASK */
	"mov %rsp, %rsi\n"
	"xor %edx, %edx\n"
	"mov $8, %r10d\n"
	"mov $14, %eax\n" /* rt_sigprocmask */
	"syscall\n"
	"lea 8(%rsp), %rsp\n"
	".cfi_adjust_cfa_offset -8\n"
	".irp name," REGISTERS "\n"
	"pop %\\name\n"
	".cfi_adjust_cfa_offset -8\n"
	".cfi_same_value \\name\n"
	".endr\n"
	"popf\n"
	".cfi_adjust_cfa_offset -8\n"
	"ret $128\n"
	".cfi_endproc\n"
	".size trace_resume_now, . - trace_resume_now\n");

void trace_resume(const ucontext_t *uc)
{
	const void *state = uc->uc_mcontext.fpregs;
	const greg_t *r = uc->uc_mcontext.gregs;

	if (!is_usual(uc) || has_shadow_stack() ||
	    half_at(state, MAGIC_OFF) != FP_XSTATE_MAGIC1 || !has_same_rights(state))
		return;
	trace_resume_now(r, &uc->uc_sigmask, state, word_at(state, FEATURES_OFF),
			 (uint64_t *)(uintptr_t)(r[REG_RSP] - RED_ZONE));
}
