/* SPDX-License-Identifier: Apache-2.0
 *
 * becoming N OTHER: works for some milliseconds, then executes OTHER, which does the same
 * and executes this one: N times in all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS 10000000

int main(int argc, char **argv)
{
	unsigned long left = argc > 2 ? strtoul(argv[1], NULL, 0) : 0;
	char rest[24];

	for (unsigned i = 0; i < ROUNDS; i++)
		__asm__ volatile("");
	if (!left)
		return 0;
	snprintf(rest, sizeof(rest), "%lu", left - 1);
	execl(argv[2], argv[2], rest, argv[0], (char *)NULL);
	return 1;
}
