/* SPDX-License-Identifier: Apache-2.0 */
	.text
	.globl _start
	.hidden begin, takeover_begin
_start:
	xor %ebp, %ebp
	lea _DYNAMIC(%rip), %rsi
	lea __ehdr_start(%rip), %rdx
	mov %rsp, %rax
	and $-16, %rsp
	test %rdi, %rdi /* 0 from the kernel; else a struct count_control */
	jnz 1f
	mov %rax, %rdi
	call begin
	hlt
1:	call takeover_begin
	hlt

	.section .note.GNU-stack, "", @progbits
