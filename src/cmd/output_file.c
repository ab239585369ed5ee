/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/output_file.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

void output_file_allow_failure(void)
{
	signal(SIGXFSZ, SIG_IGN);
}

void output_file_discard(const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0 && S_ISREG(st.st_mode))
		unlink(path);
}
