/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_status.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/count_status.h"
#include "host/executable.h"
#include "host/procfs.h"
#include "wire/sampler.h"

static int check_program(pid_t pid, struct err *e)
{
	struct executable x;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);

	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_os(e, "its program cannot be read");
	if (executable_probe(fd, &x, NULL) < 0 || !x.is_64bit || !x.is_native)
		return err_set(e, ERR_UNSUPPORTED,
			       "it is no 64-bit program of this machine");
	if (x.is_static)
		return err_set(e, ERR_UNSUPPORTED,
			       "it is statically linked: nothing leads its calls "
			       "elsewhere");
	return 0;
}

int inject_status_check_threads(pid_t pid, struct err *e)
{
	own(procfs_ids_fini) struct procfs_ids tids = { 0 };
	char text[PROCFS_STATUS_BYTES], path[64];
	int rc = procfs_tasks(pid, &tids, e);

	for (size_t i = 0; i < tids.ids.n && rc == 0; i++) {
		snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid,
			 (int)tids.ids.at[i]);
		/* One that has ended forbids nothing. */
		if (procfs_read_text(path, text, sizeof(text), NULL) == 0 &&
		    strstr(text, "\nSeccomp:\t") && !strstr(text, "\nSeccomp:\t0"))
			rc = err_set(e, ERR_UNSUPPORTED,
				     "it has forbidden itself system calls (seccomp), "
				     "and the tracer needs some");
	}
	return rc;
}

int inject_status_check(pid_t pid, struct err *e)
{
	char text[PROCFS_STATUS_BYTES];
	struct count_status status;
	int rc = procfs_status(pid, text, e);

	if (rc == 0)
		rc = count_status_parse(text, &status, e);
	if (rc == 0)
		rc = inject_status_check_threads(pid, e);
	return rc == 0 ? check_program(pid, e) : rc;
}

bool inject_status_ignores(pid_t pid, int signal)
{
	static const char label[] = "\nSigIgn:\t";
	char text[PROCFS_STATUS_BYTES];
	const char *found =
		procfs_status(pid, text, NULL) == 0 ? strstr(text, label) : NULL;

	return found && strtoull(found + strlen(label), NULL, 16) >> (signal - 1) & 1;
}

int inject_status_check_directory(pid_t pid, const char *directory, struct err *e)
{
	char path[WIRE_SAMPLER_DIRECTORY_MAX + 64];
	struct stat ours, theirs;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, directory);
	if (stat(directory, &ours) == 0 && stat(path, &theirs) == 0 &&
	    ours.st_ino == theirs.st_ino && ours.st_dev == theirs.st_dev)
		return 0;
	return err_set(e, ERR_UNSUPPORTED,
		       "it has file systems of its own (a container), and cannot open "
		       "'%s'",
		       directory);
}
