/* SPDX-License-Identifier: Apache-2.0 */
#include "count/own_exe.h"

#include <limits.h>
#include <string.h>

#include "bare/sys.h"
#include "count/program_memory.h"
#include "count/put.h"

#define NAME_MAX_BYTES 32 /* of those that are meant */

static char exe[PATH_MAX];

void own_exe_set(const char *path)
{
	if (strlen(path) < sizeof(exe))
		memcpy(exe, path, strlen(path) + 1);
}

const char *own_exe_of(const char *name)
{
	char by_number[NAME_MAX_BYTES];

	if (!exe[0])
		return NULL;
	*put_text(put_number(put_text(by_number, "/proc/"), (unsigned)sys_getpid()),
		  "/exe") = 0;
	if (strcmp(name, "/proc/self/exe") != 0 &&
	    strcmp(name, "/proc/thread-self/exe") != 0 && strcmp(name, by_number) != 0)
		return NULL;
	return exe;
}

const char *own_exe_at(uint64_t name)
{
	char text[NAME_MAX_BYTES];

	return program_memory_read_text(text, name, sizeof(text)) ? own_exe_of(text)
								  : NULL;
}
