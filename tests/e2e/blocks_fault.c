/* SPDX-License-Identifier: Apache-2.0
 *
 * Ends by a fault in the middle of a block, in its 20th turn.
 *
 *	usage: blocks_fault segv|bus|ill|fpe [ignored]
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define TURNS 20

static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE };

/* Between the labels stands what faults. */
__attribute__((noinline)) void turn(const int *address, int is_bad, unsigned by)
{
	__asm__ volatile(".globl before, here, behind\n"
			 "before: nop\n"
			 "here: movl (%0), %%eax\n"
			 "behind: nop\n"
			 :
			 : "r"(address)
			 : "eax");
	__asm__ volatile(".globl divide\n"
			 "xorl %%edx, %%edx\n"
			 "movl $1, %%eax\n"
			 "divide: divl %0\n"
			 "nop\n"
			 :
			 : "r"(by)
			 : "eax", "edx");
	if (is_bad)
		__asm__ volatile(".globl illegal\nillegal: ud2\n");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "segv";
	const int *bad = NULL, good = 1;

	if (argc > 2)
		for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
			signal(signals[i], SIG_IGN);
	if (strcmp(how, "bus") == 0) {
		char name[] = "/tmp/blocks_fault-XXXXXX";
		int fd = mkstemp(name);

		unlink(name);
		bad = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	}
	for (int i = 1; i <= TURNS; i++) {
		int is_last = i == TURNS, is_access = how[0] == 's' || how[0] == 'b';

		turn(is_last && is_access ? bad : &good,
		     is_last && strcmp(how, "ill") == 0,
		     !(is_last && strcmp(how, "fpe") == 0));
	}
	return 0;
}
