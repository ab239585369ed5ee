/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_prospect.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "host/executable.h"
#include "host/proc_maps.h"
#include "host/procfs.h"
#include "wire/tracer.h"

#define ENVIRONMENT_MAX (4u << 20)
#define MAPS_MAX	(4u << 20)

static bool probe(pid_t pid, struct executable *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);

	own(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd >= 0 && executable_probe(fd, ret, NULL) == 0;
}

static bool can_load(pid_t pid)
{
	struct executable x;

	return probe(pid, &x) && x.is_native && x.is_64bit && !x.is_static && !x.is_setid;
}

const char *timer_prospect_never(pid_t pid)
{
	struct executable x;

	if (!probe(pid, &x))
		return NULL;
	if (!x.is_native || !x.is_64bit)
		return "it is no 64-bit program of this machine, which the library is "
		       "for";
	if (x.is_static)
		return "it is statically linked: no library can be loaded into it";
	return NULL;
}

/* In a container the directory is at another path, and its name is no other's. */
static const char *name_of(const struct timer_directory *d)
{
	const char *slash = strrchr(d->path, '/');

	return slash ? slash : d->path;
}

/* Once it is loaded the library may have taken itself out of the list, but not what it
 * is told. */
static bool is_told_to(const struct buf *environment, const struct timer_directory *d)
{
	const char *at = (const char *)environment->data, *end = at + environment->size;

	for (; at < end; at += strnlen(at, (size_t)(end - at)) + 1)
		if ((text_starts(at, "LD_PRELOAD=") ||
		     text_starts(at, WIRE_TRACER_ENV "=")) &&
		    strstr(at, name_of(d)))
			return true;
	return false;
}

/* Before 2.34 a link has the name by which it is needed, and the file its version's. */
bool timer_prospect_is_c_library(const char *path)
{
	return strstr(path, "/libc.so.") || strstr(path, "/libc-2.");
}

/* What is in its memory by now. */
struct loaded {
	bool anything, ours, c_library;
};

static struct loaded look(pid_t pid, const struct timer_directory *d)
{
	own(buf_fini) struct buf text = { 0 };
	own(freep) struct proc_map *map = xcalloc(1, sizeof(*map));
	struct loaded loaded = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	if (procfs_read(path, MAPS_MAX, &text, NULL) < 0)
		return loaded;

	const char *at = buf_str(&text), *end = at + text.size;

	while (proc_maps_next(&at, end, map)) {
		loaded.anything = true;
		loaded.ours |= strstr(map->path, name_of(d)) != NULL;
		loaded.c_library |= timer_prospect_is_c_library(map->path);
	}
	return loaded;
}

/* What is to be preloaded comes before what the program itself needs: where the C library
 * is without it, it could not be loaded. */
static bool is_passed_over(pid_t pid, const struct timer_directory *d)
{
	struct loaded loaded = look(pid, d);

	return loaded.c_library && !loaded.ours;
}

/* The kernel shows neither words nor environment of what it is about to begin. */
static bool has_begun(pid_t pid)
{
	char words[64];

	return procfs_cmdline(pid, words, sizeof(words), NULL) == 0 && words[0];
}

/* What is shared is its owner's, and open to root. */
static bool may_meet(pid_t pid, const struct timer_directory *d)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return stat(path, &st) < 0 || st.st_uid == d->owner || st.st_uid == 0;
}

static bool is_told(pid_t pid, const struct timer_directory *d)
{
	own(buf_fini) struct buf environment = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	if (procfs_read(path, ENVIRONMENT_MAX, &environment, NULL) < 0)
		return false;
	buf_u8(&environment, 0);
	return is_told_to(&environment, d);
}

bool timer_prospect(pid_t pid, const struct timer_directory *d)
{
	if (!d || !d->path[0] || !can_load(pid) || !may_meet(pid, d))
		return false;
	return is_told(pid, d) ? !is_passed_over(pid, d) : !has_begun(pid);
}

bool timer_prospect_is_coming(pid_t pid, const struct timer_directory *d)
{
	struct loaded loaded;

	if (!d->path[0] || (!is_told(pid, d) && (has_begun(pid) || !can_load(pid))))
		return false;
	loaded = look(pid, d);
	return loaded.anything && !loaded.ours && !loaded.c_library;
}
