/* SPDX-License-Identifier: Apache-2.0
 *
 * A function as OpenSSL's SHA-2 for AVX2 is written: it aligns its stack pointer down and
 * keeps the old one below the new, in the red zone, where its unwind table says that it
 * is.  usage: redzone ROUNDS
 */
#include <stdlib.h>

void redzone_spin(long rounds);

/* DW_CFA_def_cfa_expression: breg7 (rsp) -8, deref, plus_uconst 8 */
__asm__(".text\n"
	".globl redzone_spin\n"
	".type redzone_spin, @function\n"
	"redzone_spin:\n"
	"	.cfi_startproc\n"
	"	mov %rsp, %rax\n"
	"	.cfi_def_cfa_register rax\n"
	"	sub $512, %rsp\n"
	"	and $-256, %rsp\n"
	"	mov %rax, -8(%rsp)\n"
	"	.cfi_escape 0x0f, 5, 0x77, 0x78, 0x06, 0x23, 0x08\n"
	"	xor %eax, %eax\n"
	"1:	imul $3, %rax, %rax\n"
	"	dec %rdi\n"
	"	jnz 1b\n"
	"	mov -8(%rsp), %rsp\n"
	"	.cfi_def_cfa rsp, 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size redzone_spin, .-redzone_spin\n");

int main(int argc, char **argv)
{
	redzone_spin(argc > 1 ? atol(argv[1]) : 1);
	return 0;
}
