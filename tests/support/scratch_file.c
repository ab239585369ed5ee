/* SPDX-License-Identifier: Apache-2.0 */
#include "scratch_file.h"

#include <stdio.h>
#include <unistd.h>

#include "base/own.h"

char scratch_file_path[64];

int scratch_file_make(unused void **state)
{
	snprintf(scratch_file_path, sizeof(scratch_file_path), "/tmp/dwell-test-%d.dwell",
		 getpid());
	unlink(scratch_file_path);
	return 0;
}

int scratch_file_remove(unused void **state)
{
	unlink(scratch_file_path);
	return 0;
}
