/* SPDX-License-Identifier: Apache-2.0
 * Between translated code and the engine.  Neither vector registers nor fs are touched:
 * the engine uses none. */
#include "count/context.h"
/* As wire/count_control.h has it. */
#define HELD_SIGNAL 1

/* Neither direction nor a check of alignment is the program's while the engine runs. */
.macro PLAIN_FLAGS
	pushq $0x202
	popfq
.endm

	.text
	.hidden crossing_out, crossing_enter, crossing_clone, crossing_end, crossing_call
	.hidden crossing_call_check, crossing_call_made, crossing_call_not, crossing_return
	.hidden crossing_in_checked, crossing_in_end, signal_restorer
	.hidden crossing_signal, dispatch, thread_begin, signal_arrives, signal_deliver_held
	.hidden crossing_int80, crossing_int80_made, crossing_join, crossing_release, crossing_finish
	.hidden crossing_aside, crossing_rest, crossing_again
	.hidden depart_actions, depart_signal
	.hidden release_aside, takeover_rest, takeover_again
	.hidden takeover_thread, release_at_rest, release_interrupted, release_finish
	.globl crossing_out, crossing_enter, crossing_clone, crossing_end, crossing_call
	.globl crossing_call_check, crossing_call_made, crossing_call_not, crossing_return
	.globl crossing_in_checked, crossing_in_end, crossing_signal, signal_restorer
	.globl crossing_int80, crossing_int80_made, crossing_join, crossing_release, crossing_finish
	.globl crossing_aside, crossing_rest, crossing_again

/* crossing_enter(context, code): a thread's first way into translated code. */
crossing_enter:
	mov CONTEXT_ENGINE_SP(%rdi), %rsp
	mov %rsi, %rax
	jmp crossing_in

/* crossing_clone(number, a, b, c, d, e, context): a system call whose child shares memory.
 * It may have a stack of the program's, or the caller's; it uses neither. */
crossing_clone:
	push %r12
	mov 16(%rsp), %r12
	mov %rdi, %rax
	mov %rsi, %rdi
	mov %rdx, %rsi
	mov %rcx, %rdx
	mov %r8, %r10
	mov %r9, %r8
	syscall
	test %rax, %rax
	jz 1f
	pop %r12
	ret
1:	cmpb $0, crossing_has_wrgsbase(%rip) /* filters of calls do not hear it */
	je 2f
	wrgsbase %r12
	jmp 3f
2:	mov $158, %eax /* arch_prctl(ARCH_SET_GS) */
	mov $0x1001, %edi
	mov %r12, %rsi
	syscall
3:	mov CONTEXT_ENGINE_SP(%r12), %rsp
	mov %r12, %rdi
	xor %ebp, %ebp
	call thread_begin
	jmp crossing_in

/* crossing_end(context, is_free, code): the thread's end.  From the store on the context,
 * its stack included, may be another's. */
crossing_end:
	mov %rsi, CONTEXT_IS_FREE(%rdi)
	mov %edx, %esi
	mov %esi, %edi
	mov $60, %eax /* exit */
	syscall
	hlt

/* From translated code, which has said why in the context. */
crossing_out:
	mov %rax, %gs:CONTEXT_REGS+0
	mov %rcx, %gs:CONTEXT_REGS+8
	mov %rdx, %gs:CONTEXT_REGS+16
	mov %rbx, %gs:CONTEXT_REGS+24
	mov %rsp, %gs:CONTEXT_REGS+32
	mov %rbp, %gs:CONTEXT_REGS+40
	mov %rsi, %gs:CONTEXT_REGS+48
	mov %rdi, %gs:CONTEXT_REGS+56
	mov %r8, %gs:CONTEXT_REGS+64
	mov %r9, %gs:CONTEXT_REGS+72
	mov %r10, %gs:CONTEXT_REGS+80
	mov %r11, %gs:CONTEXT_REGS+88
	mov %r12, %gs:CONTEXT_REGS+96
	mov %r13, %gs:CONTEXT_REGS+104
	mov %r14, %gs:CONTEXT_REGS+112
	mov %r15, %gs:CONTEXT_REGS+120
	mov %gs:CONTEXT_ENGINE_SP, %rsp
	pushfq
	popq %gs:CONTEXT_FLAGS
	PLAIN_FLAGS
	mov %gs:CONTEXT_SELF, %rdi
	call dispatch

/* To where in translated code rax says. */
crossing_in:
	mov %rax, %gs:CONTEXT_RESUME
	cmpq $0, %gs:CONTEXT_IS_HELD
crossing_in_checked: /* whom a signal interrupts from here on has its registers there */
	jne crossing_deliver
	pushq %gs:CONTEXT_FLAGS
	popfq
	mov %gs:CONTEXT_REGS+0, %rax
	mov %gs:CONTEXT_REGS+8, %rcx
	mov %gs:CONTEXT_REGS+16, %rdx
	mov %gs:CONTEXT_REGS+24, %rbx
	mov %gs:CONTEXT_REGS+40, %rbp
	mov %gs:CONTEXT_REGS+48, %rsi
	mov %gs:CONTEXT_REGS+56, %rdi
	mov %gs:CONTEXT_REGS+64, %r8
	mov %gs:CONTEXT_REGS+72, %r9
	mov %gs:CONTEXT_REGS+80, %r10
	mov %gs:CONTEXT_REGS+88, %r11
	mov %gs:CONTEXT_REGS+96, %r12
	mov %gs:CONTEXT_REGS+104, %r13
	mov %gs:CONTEXT_REGS+112, %r14
	mov %gs:CONTEXT_REGS+120, %r15
	mov %gs:CONTEXT_REGS+32, %rsp
	jmp *%gs:CONTEXT_RESUME
crossing_in_end:

crossing_deliver:
	mov %gs:CONTEXT_SELF, %rdi
	testq $HELD_SIGNAL, CONTEXT_IS_HELD(%rdi)
	jz 1f
	call signal_deliver_held
1:	call release_at_rest
	jmp crossing_in

/* Where the recorder leads threads, each with its context in rdi and on the engine's stack:
 * of a program that ran natively until now; in translated code; of those that are away the
 * one that undoes what is the process's. */
crossing_join:
	call takeover_thread
	jmp crossing_in
crossing_release:
	call release_interrupted
	jmp crossing_in
crossing_finish:
	call release_finish
	jmp crossing_in
/* The same on a stack that is none of signals'. */
crossing_aside:
	call release_aside
	jmp crossing_in

/* Where it leads one thread while none is with the engine, with the struct count_control in
 * rdi and the stack behind that. */
crossing_rest:
	call takeover_rest
	hlt
crossing_again:
	call takeover_again
	hlt

/* crossing_return(state): to where the kernel's state of a thread is. */
crossing_return:
	mov %rdi, %rsp
signal_restorer:
	mov $15, %eax /* rt_sigreturn */
	syscall
	hlt

/* From the kernel, with a signal. */
crossing_signal:
	PLAIN_FLAGS
	cmpq $0, depart_actions(%rip)
	jne crossing_signal_departed
	jmp signal_arrives

/* There is no context any more. */
crossing_signal_departed:
	push %rdi
	push %rsi
	push %rdx
	call depart_signal
	pop %rdx
	pop %rsi
	pop %rdi
	test %rax, %rax
	jz crossing_signal_over
	jmp *%rax
crossing_signal_over:
	ret

/* crossing_call(context): the program's call, unless a signal is held.  One that comes
 * between the look and the call finds the thread there, and leads it away. */
crossing_call:
	mov CONTEXT_REGS+0(%rdi), %rax
	mov CONTEXT_REGS+16(%rdi), %rdx
	mov CONTEXT_REGS+48(%rdi), %rsi
	mov CONTEXT_REGS+64(%rdi), %r8
	mov CONTEXT_REGS+72(%rdi), %r9
	mov CONTEXT_REGS+80(%rdi), %r10
	mov CONTEXT_REGS+56(%rdi), %rdi
crossing_call_check:
	cmpq $0, %gs:CONTEXT_IS_HELD
	jne crossing_call_not
	syscall
crossing_call_made:
	ret
crossing_call_not:
	mov $-512, %rax
	ret

/* crossing_int80(context): the same of a 32-bit program's kind. */
crossing_int80:
	push %rbx
	push %rbp
	mov CONTEXT_REGS+0(%rdi), %eax
	mov CONTEXT_REGS+8(%rdi), %ecx
	mov CONTEXT_REGS+16(%rdi), %edx
	mov CONTEXT_REGS+24(%rdi), %ebx
	mov CONTEXT_REGS+40(%rdi), %ebp
	mov CONTEXT_REGS+48(%rdi), %esi
	mov CONTEXT_REGS+56(%rdi), %edi
	int $0x80
crossing_int80_made:
	pop %rbp
	pop %rbx
	ret

	.bss
	.hidden crossing_has_wrgsbase
	.globl crossing_has_wrgsbase
crossing_has_wrgsbase:
	.byte 0

	.section .note.GNU-stack, "", @progbits
