/* SPDX-License-Identifier: Apache-2.0 */
	.text
	.globl _start
	.hidden begin
_start:
	xor %ebp, %ebp
	mov %rsp, %rdi
	lea _DYNAMIC(%rip), %rsi
	lea __ehdr_start(%rip), %rdx
	and $-16, %rsp
	call begin
	hlt

	.section .note.GNU-stack, "", @progbits
