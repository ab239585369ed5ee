/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_prospect.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/text.h"
#include "host/executable.h"
#include "host/procfs.h"

#define ENVIRONMENT_MAX (4u << 20)

static bool can_load(pid_t pid)
{
	char path[64];
	struct executable x;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);

	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && executable_probe(fd, &x, NULL) == 0 && x.is_native &&
	       x.is_64bit && !x.is_static && !x.is_setid;
}

/* In a container the directory is at another path, and its name is no other's. */
static bool is_told_to(const struct buf *environment, const struct timer_directory *d)
{
	const char *at = (const char *)environment->data, *end = at + environment->size;
	const char *slash = strrchr(d->path, '/');

	for (; at < end; at += strnlen(at, (size_t)(end - at)) + 1)
		if (text_starts(at, "LD_PRELOAD=") && strstr(at, slash ? slash : d->path))
			return true;
	return false;
}

/* The kernel shows neither words nor environment of what it is about to begin. */
static bool has_begun(pid_t pid)
{
	char words[64];

	return procfs_cmdline(pid, words, sizeof(words), NULL) == 0 && words[0];
}

bool timer_prospect(pid_t pid, const struct timer_directory *d)
{
	own(buf_fini) struct buf environment = { 0 };
	char path[64];

	if (!d || !d->path[0] || !can_load(pid))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	if (procfs_read(path, ENVIRONMENT_MAX, &environment, NULL) < 0)
		return false;
	buf_u8(&environment, 0);
	return is_told_to(&environment, d) || !has_begun(pid);
}
