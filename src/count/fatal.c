/* SPDX-License-Identifier: Apache-2.0 */
#include "count/fatal.h"

#include <string.h>

#include "bare/sys.h"

#define EXIT_CODE 125 /* as of others that start programs and cannot */

static void (*instead_of_end)(const char *text);

void fatal_set_instead(void (*instead)(const char *text))
{
	instead_of_end = instead;
}

static void say(const char *text)
{
	sys_call(SYS_write, 2, text, strlen(text), 0, 0, 0);
}

static _Noreturn void end(void)
{
	say("\n");
	for (;;)
		sys_call(SYS_exit_group, EXIT_CODE, 0, 0, 0, 0, 0);
}

void fatal(const char *text)
{
	if (instead_of_end)
		instead_of_end(text);
	say("dwell: ");
	say(text);
	end();
}

void fatal_at(const char *text, uint64_t number)
{
	char digits[19] = "0x";
	unsigned n = 2;

	for (int shift = 60; shift >= 0; shift -= 4)
		if (n > 2 || number >> shift || !shift)
			digits[n++] = "0123456789abcdef"[number >> shift & 15];
	digits[n] = 0;
	if (instead_of_end)
		instead_of_end(text);
	say("dwell: ");
	say(text);
	say(" ");
	say(digits);
	end();
}
