/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_probe.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/executable.h"

static int find_program(const char *name, char *path, size_t cap)
{
	const char *dirs = getenv("PATH");

	if (strchr(name, '/'))
		return snprintf(path, cap, "%s", name) < (int)cap ? 0 : -1;
	while (dirs && *dirs) {
		size_t n = strcspn(dirs, ":");

		if (snprintf(path, cap, "%.*s/%s", (int)n, dirs, name) < (int)cap &&
		    access(path, X_OK) == 0)
			return 0;
		dirs += n + (dirs[n] == ':');
	}
	return -1;
}

int timer_probe_program(const char *name, const char *instead, struct err *e)
{
	char path[PATH_MAX];
	struct executable x;

	if (!name || find_program(name, path, sizeof(path)) < 0)
		return 0;

	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || executable_probe(fd, &x, NULL) < 0)
		return 0; /* a script: its interpreter will be looked at by the kernel */
	if (x.is_static)
		return err_set(
			e, ERR_UNSUPPORTED,
			"'%s' is statically linked, nothing can be loaded into it%s",
			name, instead);
	if (x.is_setid && geteuid() != 0)
		return err_set(e, ERR_UNSUPPORTED,
			       "'%s' runs as another user: only root can observe it",
			       name);
	if (!x.is_64bit)
		return err_set(e, ERR_UNSUPPORTED,
			       "'%s' is a 32-bit program, our library is not%s", name,
			       instead);
	return 0;
}

bool timer_probe_marks(const char *name)
{
	char path[PATH_MAX];
	struct executable x;

	if (!name || timer_probe_program(name, "", NULL) < 0 ||
	    find_program(name, path, sizeof(path)) < 0)
		return false;

	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && executable_probe(fd, &x, NULL) == 0 && x.has_marks;
}

int timer_probe(const struct experiment *x, const struct scope *scope, struct err *e)
{
	if (x->trigger == EXPERIMENT_HEAP || x->trigger == EXPERIMENT_IO)
		return err_set(e, ERR_UNSUPPORTED, "takes samples of CPU time only");
	if (x->trigger == EXPERIMENT_THREAD_TIME)
		return err_set(e, ERR_UNSUPPORTED, "waits are seen by the kernel only");
	if (x->trigger == EXPERIMENT_STATES)
		return err_set(e, ERR_UNSUPPORTED, "states are seen by the kernel only");
	if (x->trigger == EXPERIMENT_SYSCALLS || x->trigger == EXPERIMENT_TRIGGER)
		return err_set(e, ERR_UNSUPPORTED, "they are seen by the kernel only");
	if (x->trigger == EXPERIMENT_COUNTER)
		return err_set(e, ERR_UNSUPPORTED, "counters are the kernel's");
	if (x->trigger != EXPERIMENT_CPU_TIME)
		return err_set(e, ERR_UNSUPPORTED,
			       "page faults are seen by the kernel only");
	if (scope->kind != SCOPE_LAUNCH)
		return err_set(e, ERR_UNSUPPORTED,
			       "is loaded when a program starts: 'dwell run' needs no "
			       "rights");
	return timer_probe_program(scope->program, "; as root, perf_event observes it",
				   e);
}
