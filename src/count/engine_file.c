/* SPDX-License-Identifier: Apache-2.0 */
#include "count/engine_file.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "bare/sys.h"
#include "count/engine.h"
#include "count/program_memory.h"

#define USUAL "/proc/self/exe"

static char path[PATH_MAX]; /* "": not known */
static struct stat own;

static bool look(const char *name, struct stat *ret)
{
	return sys_call(SYS_stat, name, ret, 0, 0, 0, 0) == 0;
}

void engine_file_init(void)
{
	long length;

	if (program_memory_is_believed() || !look(USUAL, &own))
		return;
	length = sys_readlink(USUAL, path, sizeof(path) - 1);
	path[length > 0 ? length : 0] = 0;
}

static bool is_own(const struct stat *st)
{
	return st->st_dev == own.st_dev && st->st_ino == own.st_ino;
}

const char *engine_file_name(void)
{
	struct stat st;

	/* Filters of calls may forbid to ask. */
	if (!path[0] || program_memory_is_believed() || engine.is_confined ||
	    !look(USUAL, &st) || is_own(&st))
		return USUAL;
	return look(path, &st) && is_own(&st) ? path : NULL;
}
