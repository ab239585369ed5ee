/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch_directory.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEMPLATE "/tmp/dwell-test-XXXXXX"

char scratch_directory_path[] = TEMPLATE;

int scratch_directory_make(void **state)
{
	(void)state;
	strcpy(scratch_directory_path, TEMPLATE);
	return mkdtemp(scratch_directory_path) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

int scratch_directory_remove(void **state)
{
	(void)state;
	return nftw(scratch_directory_path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
