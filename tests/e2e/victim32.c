/* SPDX-License-Identifier: Apache-2.0
 *
 * A 32-bit program that needs no 32-bit library: burns CPU, says so, exits with 9.
 */
static int call(int number, int a, const void *b, int c)
{
	int result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c)
			 : "memory");
	return result;
}

void _start(void);

void _start(void)
{
	static const char text[] = "thirty-two\n";
	volatile unsigned sink = 1;

	for (int i = 0; i < 20000000; i++)
		sink = sink * 1664525 + 1013904223;
	call(4, 1, text, sizeof(text) - 1);
	call(1, 9, 0, 0);
	__builtin_unreachable();
}
