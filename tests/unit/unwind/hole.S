/* SPDX-License-Identifier: Apache-2.0 */
/* What another compiler put into a file: much code without a table that keeps frame
 * pointers.  In it:
 *   void hole_call(void (*f)(void))	calls f
 *   hole_steps				does nothing in five instructions
 * and behind it, with a table:
 *   void hole_step(void)		calls hole_steps with a trap at each instruction */
	.text
	.globl hole_call, hole_steps, hole_steps_end, hole_step, hole_returned
	.type hole_call, @function
	.type hole_steps, @function
	.type hole_step, @function
	.skip 150000, 0xcc
hole_call:
	push %rbp
	mov %rsp, %rbp
	push %rbx
	sub $8, %rsp
	call *%rdi
	add $8, %rsp
	pop %rbx
	pop %rbp
	ret
	.p2align 4
hole_steps:
	push %rbp
	mov %rsp, %rbp
	nop
	pop %rbp
	ret
hole_steps_end:
	.skip 150000, 0xcc
hole_step:
	.cfi_startproc
	pushfq
	.cfi_adjust_cfa_offset 8
	orq $0x100, (%rsp)
	popfq
	.cfi_adjust_cfa_offset -8
	call hole_steps
hole_returned:
	pushfq
	.cfi_adjust_cfa_offset 8
	andq $~0x100, (%rsp)
	popfq
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.section .note.GNU-stack, "", @progbits
