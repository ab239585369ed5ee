/* SPDX-License-Identifier: Apache-2.0
 *
 * dense SECONDS - code with so many functions that a page of it has more unwind rules
 * than a block of rows holds.
 *
 * 40,000 functions of 12 bytes, each with three rules: enter() calls the first, and each
 * calls one some thousand further on, STEPS deep.
 */
#include <stdlib.h>
#include <time.h>

#define FUNCTIONS "40000"
#define STEPS	  30

__asm__(".text\n"
	".globl dense_functions\n"
	".type dense_functions, @function\n"
	"dense_functions:\n"
	".rept " FUNCTIONS "\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset 6, -16\n"
	"dec %edi\n"
	"jz 1f\n"
	"call . - 5 + 12 * 1201\n"
	"1: pop %rbp\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".endr\n"
	".size dense_functions, . - dense_functions\n");

void dense_functions(int steps);

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);

	while (clock() < end)
		for (int i = 0; i < 10000; i++)
			dense_functions(STEPS);
	return 0;
}
