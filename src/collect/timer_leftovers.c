/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/timer_directory.h"
#include "host/procfs.h"

#define ENVIRONMENT_MAX (4u << 20)
#define MAPS_MAX	(64u << 20)

static bool is_abandoned(const char *name)
{
	int pid, n = 0;

	return sscanf(name, "dwell-%d-%n", &pid, &n) == 1 && n && strlen(name + n) == 6 &&
	       pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

static bool mentions(pid_t pid, const char *file, size_t max, const char *name)
{
	own(buf_fini) struct buf text = { 0 };
	char from[64];

	snprintf(from, sizeof(from), "/proc/%d/%s", (int)pid, file);
	return procfs_read(from, max, &text, NULL) == 0 &&
	       memmem(text.data, text.size, name, strlen(name));
}

/* By who has the library loaded, and by who would load it into what it starts.  In a
 * container it is at another path, and its name is no other's. */
static bool is_used(const char *name)
{
	struct procfs_ids pids = { 0 };
	bool is = procfs_processes(&pids, NULL) < 0;

	for (size_t i = 0; i < pids.ids.n && !is; i++)
		is = mentions(pids.ids.at[i], "environ", ENVIRONMENT_MAX, name) ||
		     mentions(pids.ids.at[i], "maps", MAPS_MAX, name);
	procfs_ids_fini(&pids);
	return is;
}

static void remove_leftover(const char *place, const char *name)
{
	struct timer_directory d = { .control_fd = -1 };
	int n = snprintf(d.path, sizeof(d.path), "%s/%s", place, name);
	struct stat st;

	if (n < 0 || (size_t)n >= sizeof(d.path) || is_used(name))
		return;
	d.fd = open(d.path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (d.fd < 0)
		return;
	if (fstat(d.fd, &st) == 0 && st.st_uid == geteuid())
		timer_directory_remove(&d, false);
	else
		close(d.fd);
}

void timer_leftovers_remove(const char *place)
{
	DIR *dir = opendir(place);
	struct dirent *x;

	if (!dir)
		return;
	while ((x = readdir(dir)))
		if (is_abandoned(x->d_name))
			remove_leftover(place, x->d_name);
	closedir(dir);
}
