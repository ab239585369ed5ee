/* SPDX-License-Identifier: Apache-2.0
 *
 * A 32-bit program that needs no 32-bit library: functions and a probe (USDT) that are
 * met 1000 times each, with arguments that are known.
 */
#define TIMES 1000

int adds(int a, int b, int c);
void pass(int i);
void _start(void);

static volatile int sink;
static volatile unsigned table[] = { 5, 7, 9 };

__attribute__((noinline)) int adds(int a, int b, int c)
{
	__asm__ volatile("" : "+r"(a));
	sink = a;
	return a + b + c;
}

/* Its second value is in front of where a register points to. */
__attribute__((noinline)) void pass(int i)
{
	__asm__ volatile("990:	nop\n"
			 "	.pushsection .note.stapsdt,\"\",\"note\"\n"
			 "	.balign 4\n"
			 "	.4byte 992f-991f, 994f-993f, 3\n"
			 "991:	.asciz \"stapsdt\"\n"
			 "992:	.balign 4\n"
			 "993:	.4byte 990b, 0, 0\n"
			 "	.asciz \"narrow\"\n"
			 "	.asciz \"pass\"\n"
			 "	.asciz \"-4@%%eax 4@(%%ecx,%%edx,4)\"\n"
			 "994:	.balign 4\n"
			 "	.popsection\n"
			 :
			 : "a"(-i), "c"(table + 2), "d"(-1)
			 : "memory");
}

void _start(void)
{
	table[1] += 0; /* what is not there yet cannot be read */
	for (int i = 0; i < TIMES; i++) {
		adds(i, -3 * i, 1000);
		pass(i);
	}
	__asm__ volatile("int $0x80" : : "a"(1), "b"(0));
	__builtin_unreachable();
}
