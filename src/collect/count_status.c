/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_status.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/executable.h"
#include "host/newcomers.h"
#include "host/procfs.h"
#include "wire/count_file.h"

/* Behind "NAME:" and white space, or NULL. */
static const char *value_of(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = text; line && *line;) {
		if (!strncmp(line, name, n) && line[n] == ':')
			return line + n + 1 + strspn(line + n + 1, "\t ");
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return NULL;
}

static long number_of(const char *text, const char *name)
{
	const char *v = value_of(text, name);

	return v ? strtol(v, NULL, 10) : 0;
}

static long second_number(const char *text, const char *name)
{
	const char *v = value_of(text, name);

	return v ? strtol(v + strcspn(v, "\t "), NULL, 10) : 0;
}

int count_status_parse(const char *text, struct count_status *ret, struct err *e)
{
	const char *state = value_of(text, "State");
	const char *features = value_of(text, "x86_Thread_features");
	long tracer = number_of(text, "TracerPid");

	if (!state)
		return err_set(e, ERR_FORMAT, "nothing is known of its state");
	if (strchr("ZX", *state))
		return err_set(e, ERR_UNSUPPORTED, "its first thread has ended");
	if (tracer)
		return err_set(e, ERR_UNSUPPORTED, "process %ld traces it", tracer);
	if (strchr("Tt", *state))
		return err_set(e, ERR_UNSUPPORTED, "it is stopped");
	if (number_of(text, "Seccomp") == SECCOMP_MODE_STRICT)
		return err_set(e, ERR_UNSUPPORTED,
			       "it has forbidden itself all system calls (seccomp)");
	if (features && !strncmp(features, "shstk", 5))
		return err_set(e, ERR_UNSUPPORTED, "it has a shadow stack");
	*ret = (struct count_status){ .uid = (uid_t)second_number(text, "Uid"),
				      .gid = (gid_t)second_number(text, "Gid") };
	return 0;
}

static int check_program(pid_t pid, struct err *e)
{
	char path[64];
	struct executable x;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);

	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_os(e, "its program cannot be read");
	if (executable_probe(fd, &x, NULL) < 0 || !x.is_64bit || !x.is_native)
		return err_set(e, ERR_UNSUPPORTED,
			       "it is no 64-bit program of this machine");
	return 0;
}

/* The counts' file is larger than most disks, and the engine's tables are, too. */
static int check_limits(pid_t pid, struct err *e)
{
	static const struct {
		__rlimit_resource_t what;
		const char *name;
	} limits[] = { { RLIMIT_AS, "memory (ulimit -v)" },
		       { RLIMIT_DATA, "data (ulimit -d)" },
		       { RLIMIT_FSIZE, "files (ulimit -f)" } };
	struct rlimit limit;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (prlimit(pid, limits[i].what, NULL, &limit) == 0 &&
		    limit.rlim_cur < 2 * COUNT_FILE_BYTES)
			return err_set(e, ERR_UNSUPPORTED, "its %s is limited",
				       limits[i].name);
	return 0;
}

/* By root, or another who may.  It is as it was afterwards. */
static bool can_be_raised(__rlimit_resource_t what, const struct rlimit *l)
{
	struct rlimit higher = { l->rlim_cur, l->rlim_max + 1 };

	return setrlimit(what, &higher) == 0 && setrlimit(what, l) == 0;
}

int count_status_check_own(struct err *e)
{
	static const struct {
		__rlimit_resource_t what;
		const char *name, *least;
		rlim_t least_bytes;
	} limits[] = {
		{ RLIMIT_AS, "addresses are limited (ulimit -v)", "512 GB of them",
		  COUNT_FILE_LEAST_SPACE },
		{ RLIMIT_DATA, "data are limited (ulimit -d)",
		  "64 GB, of addresses alone", COUNT_FILE_LEAST_DATA },
	};
	struct rlimit l;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (getrlimit(limits[i].what, &l) == 0 && l.rlim_max != RLIM_INFINITY &&
		    (l.rlim_max < limits[i].least_bytes ||
		     l.rlim_cur > l.rlim_max - limits[i].least_bytes) &&
		    !can_be_raised(limits[i].what, &l))
			return err_set(e, ERR_UNSUPPORTED,
				       "%s and may not be raised: counting needs %s",
				       limits[i].name, limits[i].least);
	return 0;
}

static bool shares_memory(pid_t a, pid_t b)
{
	return a > 0 && b > 0 && syscall(SYS_kcmp, a, b, KCMP_VM, 0, 0) == 0 &&
	       procfs_is_process(b);
}

/* Any of all: who was begun by a child, or has lost its parent, may have it as well.  But
 * nobody comes to have it later than when it begins. */
int count_status_check_sharing(pid_t pid, struct newcomers *alone, struct err *e)
{
	own(procfs_ids_fini) struct procfs_ids others = { 0 };
	struct newcomers now = newcomers_mark();
	int rc = newcomers_since(alone, &others, e);

	vec_each(other, &others.ids)
		if (rc == 0 && *other != pid && shares_memory(pid, *other))
			rc = err_set(e, ERR_UNSUPPORTED,
				     "it shares memory with process %d", *other);
	if (rc == 0)
		*alone = now;
	return rc;
}

uint64_t count_status_locked_kb(pid_t pid)
{
	char text[PROCFS_STATUS_BYTES];

	return procfs_status(pid, text, NULL) == 0 ? (uint64_t)number_of(text, "VmLck")
						   : 0;
}

int count_status_check(pid_t pid, struct count_status *ret, struct err *e)
{
	char text[PROCFS_STATUS_BYTES];
	int rc = procfs_status(pid, text, e);

	if (rc == 0)
		rc = count_status_parse(text, ret, e);
	if (rc == 0)
		rc = check_program(pid, e);
	return rc == 0 ? check_limits(pid, e) : rc;
}
