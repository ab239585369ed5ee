/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of model_kernels.def as functions: void kernel_NAME(uint64_t n, void *memory)
 * executes the body n times.  n is in rdi, memory (struct memory of model_kernels.c) in rsi.
 * Loops begin at a line of the cache, as what is measured is the core and not where code
 * happens to be.  Values stay normal numbers, and differ from one and zero where a divider
 * might be done early.
 */
	.set LOADED, 4096	/* struct memory: zero bytes that nobody writes */
	.set STORED, 10240	/* ... what is written, at another place of its page */

	.section .rodata
	.p2align 5
values:	/* of xmm0 to xmm4, twice each */
	.double 1.3, 1.3, 1.0000000001, 1.0000000001, 1e-10, 1e-10, 1.7, 1.7
	.double 0.58823529411764705, 0.58823529411764705
	.text

/* Parts of kernels */
	.macro kernel name
	.globl kernel_\name
	.type kernel_\name, @function
	.p2align 6
kernel_\name:
	mov $3, %eax
	mov $1, %ecx
	mov $5, %edx
	mov $7, %r8d
	mov $9, %r9d
	mov $11, %r10d
	mov $13, %r11d
	.endm

	.macro repeat
	.p2align 6
1:
	.endm

	.macro again
	dec %rdi
	jnz 1b
	.endm

	.macro done name
	ret
	.size kernel_\name, . - kernel_\name
	.endm

	.macro load_values
	.irp i, 0, 1, 2, 3, 4
	movaps values + 16 * \i(%rip), %xmm\i
	.endr
	.irp i, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	movaps %xmm0, %xmm\i
	.endr
	.endm

	.macro load_wide_values
	.irp i, 0, 1, 2, 3, 4
	vbroadcastsd values + 16 * \i(%rip), %ymm\i
	.endr
	.irp i, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
	vmovaps %ymm0, %ymm\i
	.endr
	.endm

/* Kinds: the same instructions ops times; of general registers, ... */
	.macro chain name, ops, body
	kernel \name
	repeat
	.rept \ops
	\body
	.endr
	again
	done \name
	.endm

	.macro narrow name, ops, body	/* ... of registers of 16 bytes, ... */
	kernel \name
	load_values
	repeat
	.rept \ops
	\body
	.endr
	again
	done \name
	.endm

	.macro wide name, ops, body	/* ... of 32 bytes */
	kernel \name
	load_wide_values
	repeat
	.rept \ops
	\body
	.endr
	again
	vzeroupper
	done \name
	.endm

/* Kinds: one after the other with r\i, xmm\i, ymm\i, or at the offset \i */
	.macro each name, ops, body
	kernel \name
	push %rbx
	push %rbp
	push %r12
	push %r13
	repeat
	.rept \ops / 10
	.irp i, ax, dx, bx, bp, 8, 9, 10, 11, 12, 13
	\body
	.endr
	.endr
	again
	pop %r13
	pop %r12
	pop %rbp
	pop %rbx
	done \name
	.endm

	.macro each_narrow name, ops, body
	kernel \name
	load_values
	repeat
	.irp i, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
	\body
	.endr
	again
	done \name
	.endm

	.macro each_wide name, ops, body
	kernel \name
	load_wide_values
	repeat
	.irp i, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
	\body
	.endr
	again
	vzeroupper
	done \name
	.endm

	.macro loads name, ops, body
	kernel \name
	load_values
	repeat
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
	\body
	.endr
	again
	done \name
	.endm

	.macro wide_loads name, ops, body
	kernel \name
	load_wide_values
	repeat
	.irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
	\body
	.endr
	again
	vzeroupper
	done \name
	.endm

/* Kinds: chains of loads by rax, which is in the ring of pointers, or stays zero */
	.macro chase name, ops, body
	kernel \name
	mov %rsi, %rax
	xor %ecx, %ecx
	repeat
	.rept \ops
	\body
	.endr
	again
	done \name
	.endm

	.macro index name, ops, body
	kernel \name
	xor %eax, %eax
	xor %ecx, %ecx
	repeat
	.rept \ops
	\body
	.endr
	again
	done \name
	.endm

/* Kind: a quotient has a fixed size, as what is added makes the dividend what it was */
	.macro divide name, ops, rax, rcx, r8, dividend
	kernel \name
	mov $\dividend, %rax
	mov $3, %ecx
	mov %rax, %r8
	xor %edx, %edx
	div \rcx
	sub %rax, %r8
	add %r8, %rax
	repeat
	.rept \ops
	xor %edx, %edx
	div \rcx
	add \r8, \rax
	.endr
	again
	done \name
	.endm

	.macro division name, ops, body
	divide \name, \ops, \body
	.endm

	.macro string name, ops, body
	kernel \name
	mov %rdi, %rdx
	mov %rsi, %r9
	repeat
	lea LOADED(%r9), %rsi
	lea STORED(%r9), %rdi
	\body
	dec %rdx
	jnz 1b
	done \name
	.endm

	.macro own name, ops, body	/* below */
	.endm

	.macro held_out name, ops, body	/* in model_loops.c */
	.endm

#define KERNEL(kind, name, ops, needs, body) kind name, ops, body
#include "model_kernels.def"

/* Kind: own */
	kernel idiv32_chain
	mov $1000000007, %eax
	mov $3, %ecx
	mov $666666672, %r8d	/* the dividend less its third */
	repeat
	.rept 4
	cltd
	idiv %ecx
	add %r8d, %eax
	.endr
	again
	done idiv32_chain

	kernel adc_words	/* numbers of four words */
	repeat
	.rept 3
	add %rcx, %rax
	adc %rcx, %rdx
	adc %rcx, %r8
	adc %rcx, %r9
	.endr
	again
	done adc_words

	kernel taken
	test %rcx, %rcx
	repeat
	.rept 10
	jnz 2f
	nop
2:
	.endr
	again
	done taken

	kernel calls
	repeat
	.rept 5
	call 2f
	.endr
	again
	ret
	.p2align 4
2:
	done calls

	kernel calls_deep
	repeat
	.rept 5
	call 2f
	.endr
	again
	ret
	.p2align 4
2:	call 3f
	ret
	.p2align 4
3:	call 4f
	ret
	.p2align 4
4:
	done calls_deep

	kernel indirect_calls
	lea 2f(%rip), %rax
	repeat
	.rept 5
	call *%rax
	.endr
	again
	ret
	.p2align 4
2:
	done indirect_calls

	kernel jump_table	/* as a switch, always to the same place */
	sub $24, %rsp
	lea 2f(%rip), %rax
	mov %rax, 8(%rsp)
	repeat
	jmp *8(%rsp)
	.p2align 4
2:	again
	add $24, %rsp
	done jump_table

	kernel inner_loop	/* four turns of three instructions in each of its own */
	repeat
	mov $4, %ecx
2:	add %rdx, %rax
	dec %ecx
	jnz 2b
	again
	done inner_loop

/* The same loop within a line of the cache, and across two */
	.macro copy_loop name, start
	kernel \name
	repeat
	.rept \start
	nop
	.endr
2:	mov LOADED(%rsi), %rcx
	mov %rcx, STORED(%rsi)
	add $1, %rax
	dec %rdi
	jnz 2b
	done \name
	.endm
	copy_loop loop_in_line, 0
	copy_loop loop_across_lines, 48

/* As many instructions in flight as there is room: chains of 60 that do not wait for each other */
	kernel window_imul
	repeat
	mov $3, %eax
	.rept 60
	imul %rax, %rax
	.endr
	again
	done window_imul

	kernel window_add
	repeat
	mov $3, %eax
	.rept 60
	add %rcx, %rax
	.endr
	again
	done window_add

	kernel fadd_chain	/* x87 */
	fld1
	fldz
	repeat
	.rept 10
	fadd %st(1), %st
	.endr
	again
	fstp %st
	fstp %st
	done fadd_chain

	kernel gathers
	load_wide_values
	vpxor %ymm1, %ymm1, %ymm1
	repeat
	.rept 2
	vpcmpeqd %ymm2, %ymm2, %ymm2
	vpgatherdd %ymm2, LOADED(%rsi, %ymm1), %ymm0
	.endr
	again
	vzeroupper
	done gathers

	kernel mixed_ports
	load_wide_values
	repeat
	.irp i, 5, 6, 7, 8, 9
	vaddsd %xmm0, %xmm1, %xmm\i
	mov LOADED + 8 * \i(%rsi), %rax
	add %rcx, %rdx
	vmulsd %xmm0, %xmm1, %xmm10
	vpaddd %xmm0, %xmm1, %xmm11
	lea 1(%rcx), %r8
	.endr
	again
	vzeroupper
	done mixed_ports

	kernel mixed_stores
	load_values
	repeat
	.irp i, 5, 6, 7, 8
	mov LOADED + 8 * \i(%rsi), %rax
	add %rcx, %rax
	mov %rax, STORED + 8 * \i(%rsi)
	mulsd %xmm1, %xmm\i
	.endr
	again
	done mixed_stores

	kernel mixed_division	/* in whose shadow there is much to do */
	load_values
	repeat
	divsd %xmm3, %xmm0
	divsd %xmm4, %xmm0
	.rept 12
	add %rcx, %rax
	add %rcx, %rdx
	imul %rcx, %r8
	paddd %xmm1, %xmm2
	.endr
	again
	done mixed_division

	kernel forward_other_base_chain
	lea STORED(%rsi), %r8
	repeat
	.rept 5
	mov %rax, STORED(%rsi)
	mov (%r8), %rax
	.endr
	again
	done forward_other_base_chain

	kernel forward_stack_chain	/* as code without optimisation */
	sub $24, %rsp
	repeat
	.rept 5
	mov %rax, 8(%rsp)
	mov 8(%rsp), %rax
	add %rcx, %rax
	.endr
	again
	add $24, %rsp
	done forward_stack_chain

	.section .note.GNU-stack, "", @progbits
