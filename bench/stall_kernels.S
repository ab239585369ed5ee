/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of stall_kernels.def: void kernel_NAME(uint64_t n, void *memory) goes round n
 * times, n in rdi and memory in rsi.  What is planted begins at a mark, whose distance from
 * the function's begin is the number planted_NAME.
 */
	.text

	.macro begin name
	.globl kernel_\name
	.type kernel_\name, @function
	.p2align 6
kernel_\name:
	.endm

	.macro loop
	.p2align 6
1:
	.endm

	.macro planted name
.Lplanted_\name:
	.endm

	.macro again
	dec %rdi
	jnz 1b
	.endm

	.macro end name
	ret
	.size kernel_\name, . - kernel_\name
	.section .rodata
	.p2align 3
	.globl planted_\name
	.type planted_\name, @object
	.size planted_\name, 8
planted_\name:
	.quad .Lplanted_\name - kernel_\name
	.text
	.endm

	/* The ring's first pointer is at the memory's begin. */
	.macro chase name
	begin \name
	mov %rsi, %rax
	loop
	planted \name
	mov (%rax), %rax
	again
	end \name
	.endm

	chase l1_chase
	chase l2_chase
	chase dram_chase
	chase tlb_walk

	/* Backwards over 256 MB, again and again. */
	begin stream
	xor %eax, %eax
	mov $0x0fffffc0, %ecx
	loop
	planted stream
	add (%rsi, %rcx), %rax
	sub $64, %rcx
	and $0x0fffffff, %ecx
	again
	end stream

	begin store_forward
	xor %eax, %eax
	loop
	mov %eax, (%rsi)
	mov %eax, 4(%rsi)
	planted store_forward
	mov (%rsi), %rax
	add $1, %eax
	again
	end store_forward

	/* They are in another block: the branch is never taken. */
	begin store_forward_far
	xor %eax, %eax
	loop
	mov %eax, (%rsi)
	mov %eax, 4(%rsi)
	test %rdi, %rdi
	js 2f
	planted store_forward_far
	mov (%rsi), %rax
	add $1, %eax
	again
2:
	end store_forward_far

	/* Another register has the address. */
	begin store_forward_apart
	xor %eax, %eax
	mov %rsi, %rdx
	loop
	mov %eax, (%rsi)
	mov %eax, 4(%rsi)
	planted store_forward_apart
	mov (%rdx), %rax
	add $1, %eax
	again
	end store_forward_apart

	/* One line in each page of 128 MB, then the next line of each. */
	begin store_buffer
	xor %ecx, %ecx
	loop
	planted store_buffer
	mov %rdi, (%rsi, %rcx)
	add $4160, %rcx
	and $0x07ffffff, %ecx
	again
	end store_buffer

	/* xorshift: what is tested has no pattern that a predictor could learn. */
	.macro chance
	mov %rax, %rcx
	shl $13, %rcx
	xor %rcx, %rax
	mov %rax, %rcx
	shr $7, %rcx
	xor %rcx, %rax
	mov %rax, %rcx
	shl $17, %rcx
	xor %rcx, %rax
	.endm

	begin mispredict
	mov $0x2545f491, %eax
	loop
	chance
	test $1, %al
	planted mispredict
	jz 2f
	add $3, %r8
2:
	add $1, %r9
	again
	end mispredict

	/* Memory is a table of four places, filled before. */
	begin mispredict_indirect
	mov $0x2545f491, %eax
	lea .Lplaces(%rip), %rsi
	loop
	chance
	mov %eax, %ecx
	and $3, %ecx
	movslq (%rsi, %rcx, 4), %rcx
	add %rsi, %rcx
	planted mispredict_indirect
	jmp *%rcx
.Lplace0:
	add $1, %r8
	jmp 3f
.Lplace1:
	add $1, %r9
	jmp 3f
.Lplace2:
	add $1, %r10
	jmp 3f
.Lplace3:
	add $1, %r11
3:
	again
	end mispredict_indirect
	.section .rodata
	.p2align 3
.Lplaces:
	.long .Lplace0 - .Lplaces, .Lplace1 - .Lplaces
	.long .Lplace2 - .Lplaces, .Lplace3 - .Lplaces
	.text

	begin divide
	mov $0x123456789, %r8
	mov $3, %ecx
	mov %r8, %rax
	loop
	xor %edx, %edx
	or %r8, %rax
	planted divide
	div %rcx
	again
	end divide

	begin roots
	mov $0x3ff4cccccccccccd, %rax
	movq %rax, %xmm0
	loop
	planted roots
	sqrtsd %xmm0, %xmm1
	sqrtsd %xmm0, %xmm2
	sqrtsd %xmm0, %xmm3
	sqrtsd %xmm0, %xmm4
	again
	end roots

	begin shifts
	loop
	planted shifts
	shl $1, %rax
	shl $1, %rcx
	shl $1, %rdx
	shl $1, %r8
	shl $1, %r9
	shl $1, %r10
	shl $1, %r11
	shl $1, %rsi
	again
	end shifts

	begin products
	mov $3, %eax
	loop
	planted products
	imul $5, %rax, %rcx
	imul $5, %rax, %rdx
	imul $5, %rax, %r8
	imul $5, %rax, %r9
	imul $5, %rax, %r10
	imul $5, %rax, %r11
	again
	end products

	begin jumps
	loop
	planted jumps
	.rept 12
	jmp . + 16
	.skip 14, 0x90
	.endr
	again
	end jumps

	/* From line to line, which are many more than the first level holds, so that none is
	 * the next one: line i to i + 37. */
	begin icache
	loop
	.set line, 0
	planted icache
	.rept 2048
	.if line == 2011
	dec %rdi
	jz 2f
	jmp 1b
	.else
	lea 1(%rax), %rcx
	jmp 1b + (line + 37) % 2048 * 64
	.endif
	.set line, line + 1
	.p2align 6
	.endr
2:
	end icache

	/* The same with pages, at another line of each. */
	begin itlb
	loop
	planted itlb
	.rept 768
	jmp . + 4160
	.skip 4155, 0x90
	.endr
	dec %rdi
	jz 2f
	jmp 1b
2:
	end itlb

	/* Three cycles for each product. */
	.globl kernel_reference
	.type kernel_reference, @function
	.p2align 6
kernel_reference:
	loop
	.rept 20
	imul %rax, %rax
	.endr
	again
	ret
	.size kernel_reference, . - kernel_reference

	.macro shared name
	begin \name
	loop
	planted \name
	.endm

	/* Each thread has a word of its own. */
	shared false_sharing
	addq $1, (%rsi)
	again
	end false_sharing

	shared atomic
	lock addq $1, (%rsi)
	again
	end atomic

	begin contended
	and $-64, %rsi
	loop
	planted contended
	lock addq $1, (%rsi)
	again
	end contended

	begin fence
	loop
	mov %rdi, (%rsi)
	planted fence
	mfence
	again
	end fence

	.section .note.GNU-stack, "", @progbits
