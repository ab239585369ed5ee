/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_fpe_x87.h"

#include <stdint.h>
#include <string.h>

#include "decode/x86_op.h"
#include "inject/arch.h"
#include "inject/trace_fpe_state.h"

#define N_OPS	   8  /* d8 to df */
#define N_MEMORY   8  /* by the reg field of ModRM, whose operand is at (%rax) */
#define N_FORMS	   72 /* and c0 to ff */
#define FORM_BYTES 4

#define PENDING (TRACE_FPE_STATE_ERROR | TRACE_FPE_STATE_BUSY)
#define INVALID 1u
#define DIVIDE	4u
/* By the reg field: those of odd opcodes that store; what divides of even ones; and one
 * of 0xd9. */
#define STORES	0xceu
#define DIVIDES 6
#define FLDENV	4

#define FLDENV_BYTES_MAX 7
#define RED_ZONE	 128
#define LEFT_BYTES	 (64 << 10)

/* Every instruction of the unit, each followed by a return. */
__attribute__((visibility("hidden"))) extern const uint8_t trace_fpe_x87_forms[];

__asm__(".text\n"
	".balign 16\n"
	".hidden trace_fpe_x87_forms\n"
	".globl trace_fpe_x87_forms\n"
	".type trace_fpe_x87_forms, @object\n"
	"trace_fpe_x87_forms:\n"
	".set op, 0xd8\n"
	".rept 8\n"
	".set modrm, 0\n"
	".rept 8\n"
	".byte op, modrm, 0xc3, 0xcc\n"
	".set modrm, modrm + 8\n"
	".endr\n"
	".set modrm, 0xc0\n"
	".rept 64\n"
	".byte op, modrm, 0xc3, 0xcc\n"
	".set modrm, modrm + 1\n"
	".endr\n"
	".set op, op + 1\n"
	".endr\n"
	".size trace_fpe_x87_forms, . - trace_fpe_x87_forms\n");

static const uint8_t *form_of(const uint8_t code[2])
{
	unsigned op = code[0] - 0xd8u;
	unsigned form = code[1] >= 0xc0 ? code[1] - 0xc0u + N_MEMORY : code[1] >> 3 & 7;

	return trace_fpe_x87_forms + (op * N_FORMS + form) * FORM_BYTES;
}

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0x2e || byte == 0x36 ||
	       byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65 ||
	       (byte & 0xf0) == 0x40;
}

/* As the unit is left by none who has it, and the rest of the state is nobody's here. */
static void execute(struct _libc_fpstate *f, const uint8_t *form, uintptr_t operand)
{
	__asm__ volatile("fxrstor64 %0\n\t"
			 "notrack call *%2\n\t"
			 "fxsave64 %0\n\t"
			 "fninit"
			 : "+m"(*f)
			 : "a"(operand), "r"(form)
			 : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
			   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
			   "xmm13", "xmm14", "xmm15");
}

/* Results of ten bytes at most; whose function has returned meanwhile has no place. */
static uintptr_t place_of(const struct _libc_fpstate *f, const uint8_t *code,
			  uintptr_t sp, uint8_t nowhere[16])
{
	bool stores = code[1] < 0xc0 && code[0] & 1 && STORES >> (code[1] >> 3 & 7) & 1;
	bool is_left = f->rdp < sp - RED_ZONE && sp - f->rdp < LEFT_BYTES;

	return stores && is_left ? (uintptr_t)nowhere : f->rdp;
}

static bool raises(const struct _libc_fpstate *f, unsigned type)
{
	return f->swd & ~f->cwd & type;
}

/* One that loads a number below the normal range has done so. */
static bool is_done(const struct _libc_fpstate *f, const uint8_t *code)
{
	bool is_load = (code[0] == 0xd9 || code[0] == 0xdd) && code[1] < 0xc0 &&
		       !(code[1] >> 3 & 7);

	return is_load && !raises(f, INVALID);
}

/* A divisor in memory: by the time it is looked at again it may be another number than
 * the zero that it was. */
static bool divides_by_memory(const uint8_t *code)
{
	return code[1] < 0xc0 && !(code[0] & 1) && (code[1] >> 3 & 7) == DIVIDES;
}

/* Flags that were loaded with the unit's environment wait for an instruction as those do
 * that were raised, and none raised them: libraries that compute without the unit tell so
 * what happened.  Nothing may be pending at fldenv, so what waits right behind it waits
 * for it alone. */
static bool is_loaded(uintptr_t pc)
{
	uint8_t bytes[X86_OP_MAX_BYTES];
	struct x86_op op;

	for (unsigned n = 2; n <= FLDENV_BYTES_MAX && (pc & 4095) >= n; n++) {
		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, (const void *)(pc - n), n);
		if (bytes[0] == 0xd9 && x86_op_read(bytes, &op) && op.size == n &&
		    op.mod != 3 && (op.reg & 7) == FLDENV)
			return true;
	}
	return false;
}

static void make(struct _libc_fpstate *f, const uint8_t *code, uintptr_t operand)
{
	f->cwd |= TRACE_FPE_STATE_FLAGS;
	f->swd &= (uint16_t) ~(TRACE_FPE_STATE_FLAGS | PENDING);
	f->mxcsr = 0x1f80;
	execute(f, form_of(code), operand);
}

bool trace_fpe_x87_again(const ucontext_t *uc, unsigned told, unsigned *ret_raised)
{
	uint8_t nowhere[16] = { 0 };
	struct _libc_fpstate *f = uc->uc_mcontext.fpregs;
	bool is_by_hand = !f->rip || is_loaded(arch_pc(uc));
	struct _libc_fpstate own __attribute__((aligned(16)));
	const uint8_t *code = (const uint8_t *)f->rip;
	unsigned before = f->swd & TRACE_FPE_STATE_FLAGS & ~told;

	for (unsigned i = 0; !is_by_hand && i < 4 && is_prefix(*code); i++)
		code++;
	if (!is_by_hand && (*code < 0xd8 || *code > 0xdf))
		return false;
	if (is_by_hand || is_done(f, code)) {
		*ret_raised = f->swd & TRACE_FPE_STATE_FLAGS & ~(unsigned)f->cwd;
		f->swd &= (uint16_t) ~(told | PENDING);
		return true;
	}
	memcpy(&own, f, sizeof(own));
	make(&own, code, place_of(f, code, arch_sp(uc), nowhere));
	if (raises(f, DIVIDE) && !(own.swd & DIVIDE) && divides_by_memory(code)) {
		memcpy(&own, f, sizeof(own));
		make(&own, code, (uintptr_t)nowhere);
	}
	*ret_raised = own.swd & TRACE_FPE_STATE_FLAGS;
	f->swd = (uint16_t)((own.swd & ~told) | before);
	f->ftw = own.ftw;
	memcpy(f->_st, own._st, sizeof(own._st));
	return true;
}
