/* SPDX-License-Identifier: Apache-2.0 */
#define MAGIC 0x6b6f6f7474756f63 /* COUNT_CONTROL_MAGIC of wire/count_control.h */

	.text
	.globl _start
	.hidden begin, takeover_begin
_start:
	xor %ebp, %ebp
	lea _DYNAMIC(%rip), %rsi
	lea __ehdr_start(%rip), %rdx
	mov %rsp, %rax
	and $-16, %rsp
	movabs $MAGIC, %r8 /* from who comes with a struct count_control; other loaders */
	cmp %r8, %rcx	   /* than the kernel leave anything in registers */
	je 1f
	mov %rax, %rdi
	call begin
	hlt
1:	call takeover_begin
	hlt

	.section .note.GNU-stack, "", @progbits
