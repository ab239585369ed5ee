/* SPDX-License-Identifier: Apache-2.0
 *
 * on_rbx(fn): calls fn in a frame whose CFA is in rbx, as ld.so's resolver has it; the
 * callees must be asked where they saved that.
 */
	.text
	.globl on_rbx
	.type on_rbx, @function
on_rbx:
	.cfi_startproc
	push %rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	mov %rsp, %rbx
	.cfi_def_cfa 3, 16
	sub $256, %rsp
	and $-64, %rsp
	call *%rdi
	mov %rbx, %rsp
	.cfi_def_cfa 7, 16
	pop %rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size on_rbx, . - on_rbx

	.section .note.GNU-stack, "", @progbits
