/* SPDX-License-Identifier: Apache-2.0
 * Steps through its own code by the CPU's trap flag, and says where it came by.  With an
 * argument nobody handles that. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define TRAP_FLAG 0x100
#define PLACES	  4096

extern const char steps_begin[], steps_end[];
unsigned long steps_run(void *from, void *to, void (*call)(void));

static uint64_t places[PLACES];
static volatile unsigned n_places, n_codes;

/* All ways of going on: plain, by number, far data, calls and returns of each kind,
 * repeated, conditional, and a system call. */
__asm__(".text\n"
	"steps_run:\n"
	"	push %rbx\n"
	"	mov %rdx, %rbx\n"
	"	pushfq\n"
	"	orq $0x100, (%rsp)\n"
	"	popfq\n"
	"steps_begin:\n"
	"	nop\n"
	"	xor %eax, %eax\n"
	"	mov steps_word(%rip), %edx\n"
	"	lea 3(%rax, %rdx), %rax\n"
	"	mov $5, %ecx\n"
	"1:	add $1, %rax\n"
	"	dec %ecx\n"
	"	jnz 1b\n"
	"	mov $7, %ecx\n"
	"	rep movsb\n"
	"	call 2f\n"
	"	push %rax\n"
	"	call *%rbx\n"
	"	mov $39, %eax\n"
	"	syscall\n"
	"	pop %rax\n"
	"	lea 3f(%rip), %rcx\n"
	"	jmp *%rcx\n"
	"2:	add $2, %rax\n"
	"	ret\n"
	"3:	test %eax, %eax\n"
	"	jz 3b\n"
	"	mov $2, %ecx\n"
	"4:	loop 4b\n"
	"	pushfq\n"
	"	andq $~0x100, (%rsp)\n"
	"	popfq\n"
	"	nop\n"
	"steps_end:\n"
	"	pop %rbx\n"
	"	ret\n"
	"	.data\n"
	"steps_word: .long 9\n"
	"	.text\n");

static void called(void)
{
}

static void note(int signal, siginfo_t *info, void *state)
{
	ucontext_t *u = state;

	(void)signal;
	n_codes += info->si_code == 2 && /* TRAP_TRACE */
		   (uint64_t)info->si_addr == (uint64_t)u->uc_mcontext.gregs[REG_RIP];
	if (n_places < PLACES)
		places[n_places++] = (uint64_t)u->uc_mcontext.gregs[REG_RIP];
}

static void say(unsigned rounds, unsigned long result)
{
	printf("%u %lu %u %u:", rounds, result, n_places, n_codes);
	for (unsigned i = 0; i < n_places; i++) {
		uint64_t at = places[i] - (uint64_t)steps_begin;

		if (at <= (uint64_t)(steps_end - steps_begin))
			printf(" %x", (unsigned)at);
		else
			printf(" %s", places[i] == (uint64_t)called ? "called" : "-");
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct sigaction a = { .sa_sigaction = note, .sa_flags = SA_SIGINFO };
	char from[8] = "stepped", to[8] = "";

	(void)argv;
	if (argc == 1)
		sigaction(SIGTRAP, &a, NULL);
	for (unsigned i = 1; i <= 3; i++) {
		n_places = n_codes = 0;
		say(i, steps_run(to, from, called));
	}
	return memcmp(from, to, 7) != 0;
}
