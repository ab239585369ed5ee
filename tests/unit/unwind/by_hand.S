/* SPDX-License-Identifier: Apache-2.0 */
/* Functions without a table, as people write them who use a register for what they like:
 *	by_hand_1 ... by_hand_9		do nothing, each in another way
 *	by_hand_help			is called by some of them
 * all of them between by_hand_start and by_hand_end; and with a table:
 *	void by_hand_step(void (*f)(void))	calls f with a trap at each instruction */
	.text
	.globl by_hand_start, by_hand_end, by_hand_step, by_hand_returned, by_hand_help
	.globl by_hand_1, by_hand_2, by_hand_3, by_hand_4, by_hand_5, by_hand_6, by_hand_7
	.globl by_hand_8, by_hand_9, by_hand_10
	.type by_hand_step, @function
	.p2align 4
by_hand_start:
by_hand_help:			/* all that is needed is in registers */
	pxor %xmm0, %xmm0
	pmovmskb %xmm0, %eax
	ret

	.p2align 4
by_hand_1:			/* a loop */
	mov $3, %ecx
	xor %ebp, %ebp
1:	add $4, %ebp
	dec %ecx
	jnz 1b
	mov 8(%rsp), %rax
	mov by_hand_saved_rbp(%rip), %rbp
	rep ret

	.p2align 4
by_hand_2:			/* saved registers and locals */
	push %rbx
	push %rbp
	push %r12
	sub $40, %rsp
	mov $1, %ebp
	lea (%rsp, %rbp, 8), %rbx
	mov %rbx, 8(%rsp)
	mov %rsp, %r12
	call by_hand_help
	test %eax, %eax
	jz 1f
	mov $2, %ebp
1:	add $40, %rsp
	pop %r12
	pop %rbp
	pop %rbx
	ret

	.p2align 4
by_hand_3:			/* an aligned frame; the old pointer is in it */
	push %rbx
	push %rbp
	mov %rsp, %rbp
	and $-64, %rsp
	sub $320, %rsp
	mov %rbp, 256(%rsp)
	mov $2, %ebp
1:	movaps %xmm0, 64(%rsp)
	dec %ebp
	jnz 1b
	call by_hand_help
	mov 256(%rsp), %rsp
	pop %rbp
	pop %rbx
	ret

	.p2align 4
by_hand_4:			/* an aligned frame; the old pointer is in a register */
	push %r15
	lea 0(%rsp), %r15
	and $-32, %rsp
	add $-0x80, %rsp
	xor %r15d, 16(%rsp)
	call by_hand_help
	mov %r15, %rsp
	pop %r15
	ret

	.p2align 4
by_hand_5:			/* the end is another function's */
	push %rbx
	mov $1, %ebx
	test %ebx, %ebx
	jnz 3f
	jmp 2f
1:	pop %rbx
	jmp by_hand_help
2:	ud2
3:	nop
	jmp 1b

	.p2align 4
by_hand_6:			/* two ways out */
	sub $24, %rsp
	mov %rbx, 8(%rsp)
	mov $-1, %rbx
	cmp $0, %ebx
	jl 1f
	mov 8(%rsp), %rbx
	add $24, %rsp
	ret
1:	mov 8(%rsp), %rbx
	lea 24(%rsp), %rsp
	ret

	.p2align 4
by_hand_7:			/* a frame pointer that is in use when it is set */
	push %rbp
	mov $7, %ebp
	xchg %rbp, %rax
	mov %rsp, %rbp
	push %rax
	sub $64, %rsp
	leave
	ret

	.p2align 4
by_hand_8:			/* flags, and a register by way of the stack */
	pushq $1
	push %rbx
	mov %rsp, %rbx
	pop %rbx
	popq %rax
	push %r13
	mov (%rsp), %rax
	mov $0, %r13d
	mov %rax, %r13
	pop %rax
	ret

	.p2align 4
by_hand_9:			/* a table behind a jump, and what never returns */
	lea 1f(%rip), %rax
	cmp $0, %eax
	je 2f
	jmp *%rax
	.quad 0x0102030405060708
1:	nop
	ret
2:	push %rax
	call by_hand_help
	ud2

	.p2align 4
by_hand_10:			/* what is called is known to spare the old pointer */
	mov %rsp, %rdx
	sub $72, %rsp
	and $-64, %rsp
	call by_hand_help
	call by_hand_help
	mov %rdx, %rsp
	ret
by_hand_end:

by_hand_step:
	.cfi_startproc
	mov %rbp, by_hand_saved_rbp(%rip)
	pushfq
	.cfi_adjust_cfa_offset 8
	orq $0x100, (%rsp)
	popfq
	.cfi_adjust_cfa_offset -8
	call *%rdi
by_hand_returned:
	pushfq
	.cfi_adjust_cfa_offset 8
	andq $~0x100, (%rsp)
	popfq
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.local by_hand_saved_rbp
	.comm by_hand_saved_rbp, 8, 8
	.section .note.GNU-stack, "", @progbits
