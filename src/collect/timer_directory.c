/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text.h"
#include "collect/run_directory.h"

#define FOLDERS_BYTES (UINT64_C(64) << 10) /* they and links, rounded up to pages */

/* What $PLATFORM can be, and the name itself for musl, which does not expand it. */
static const char *const platforms[] = {
#if defined(__x86_64__)
	"x86_64", "haswell", "xeon_phi",
#elif defined(__aarch64__)
	"aarch64",
#endif
	"$PLATFORM", NULL
};
static const char *const platforms_32bit[] = {
#if defined(__x86_64__)
	"i386", "i486", "i586", "i686",
#elif defined(__aarch64__)
	"v7l", "v8l",
#endif
	NULL
};

static int add_library(const struct timer_directory *d, const char *folder,
		       const char *const *names, const void *data, size_t size,
		       struct err *e)
{
	char path[96];
	int rc;

	if (!size)
		return 0;
	if (mkdirat(d->fd, folder, 0700) < 0)
		return err_os(e, "cannot make '%s/%s'", d->path, folder);
	snprintf(path, sizeof(path), "%s/%s", folder, d->library->name);
	rc = run_directory_write(d->fd, d->path, path, data, size, 0600, e);
	for (; rc == 0 && *names; names++)
		if (symlinkat(folder, d->fd, *names) < 0)
			rc = err_os(e, "cannot make '%s/%s'", d->path, *names);
	return rc;
}

static int add_control(struct timer_directory *d, const struct wire_sampler_control *c,
		       struct err *e)
{
	d->control_fd = openat(d->fd, WIRE_SAMPLER_CONTROL,
			       O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (d->control_fd < 0 ||
	    posix_fallocate(d->control_fd, 0, WIRE_SAMPLER_CONTROL_BYTES) != 0 ||
	    pwrite(d->control_fd, c, sizeof(*c), 0) != sizeof(*c))
		return err_os(e, "cannot write '%s/" WIRE_SAMPLER_CONTROL "'", d->path);
	return 0;
}

static void set_rings(struct timer_directory *d, uint32_t n)
{
	uint64_t at = wire_sampler_ring_at(d->n_rings, d->ring_bytes);

	if (n > WIRE_SAMPLER_N_RINGS_MAX ||
	    posix_fallocate(d->control_fd, (off_t)at,
			    (off_t)(wire_sampler_ring_at(n, d->ring_bytes) - at)) != 0 ||
	    pwrite(d->control_fd, &n, sizeof(n),
		   offsetof(struct wire_sampler_control, n_rings)) != sizeof(n))
		return;
	d->n_rings = n;
}

void timer_directory_add_rings(struct timer_directory *d)
{
	set_rings(d, d->n_rings * 2);
}

static int add_libraries(const struct timer_directory *d, struct err *e)
{
	const struct timer_library *l = d->library;
	int rc = add_library(d, "lib", platforms, l->data, *l->size, e);

	return rc < 0 ? rc
		      : add_library(d, "lib32", platforms_32bit, l->data_32bit,
				    *l->size_32bit, e);
}

/* Of what root runs some may go on as another user, and the dynamic linker complains of
 * what cannot be opened: everybody may load the library, which meets nobody then, as what
 * is shared stays root's. */
static int show_library(const struct timer_directory *d, struct err *e)
{
	char library[96], library_32bit[96];
	const char *const names[] = { library, library_32bit, "lib", "lib32", "." };

	if (geteuid() != 0)
		return 0;
	snprintf(library, sizeof(library), "lib/%s", d->library->name);
	snprintf(library_32bit, sizeof(library_32bit), "lib32/%s", d->library->name);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (fchmodat(d->fd, names[i], i < 2 ? 0644 : 0711, 0) < 0 &&
		    errno != ENOENT)
			return err_os(e, "cannot show '%s/%s' to all", d->path, names[i]);
	return 0;
}

/* For what is there at first. */
static uint64_t room_for(const struct timer_directory *d, uint32_t n_rings)
{
	const struct timer_library *l = d->library;

	return *l->size + *l->size_32bit + FOLDERS_BYTES +
	       wire_sampler_ring_at(n_rings, d->ring_bytes);
}

/* Where there is room for all rings, or else for the program's own. */
static int make_place(struct timer_directory *d, uint32_t n_rings, struct err *e)
{
	static const char whose[] = "what dwell shares with the program";
	int rc = run_directory_make(d->path, sizeof(d->path), whose, room_for(d, n_rings),
				    NULL);

	return rc == 0 ? 0
		       : run_directory_make(d->path, sizeof(d->path), whose,
					    room_for(d, 1), e);
}

int timer_directory_make(struct timer_directory *d,
			 const struct wire_sampler_control *control,
			 const struct timer_library *library, uint32_t n_rings,
			 struct err *e)
{
	int rc;

	*d = (struct timer_directory){
		.library = library,
		.fd = -1,
		.control_fd = -1,
		.owner = geteuid(),
		.ring_bytes = control->ring_bytes,
	};
	rc = make_place(d, n_rings, e);
	if (rc < 0)
		return rc;
	d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->fd < 0)
		return err_os(e, "cannot open '%s'", d->path);
	rc = add_libraries(d, e);
	if (rc == 0)
		rc = add_control(d, control, e);
	if (rc == 0)
		rc = show_library(d, e);
	if (rc == 0)
		set_rings(d, n_rings);
	return rc;
}

int timer_directory_add_bell(const struct timer_directory *d, int *ret_fd, struct err *e)
{
	if (mkfifoat(d->fd, WIRE_SAMPLER_BELL, 0600) < 0)
		return err_os(e, "cannot make '%s/" WIRE_SAMPLER_BELL "'", d->path);
	*ret_fd = openat(d->fd, WIRE_SAMPLER_BELL, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return *ret_fd < 0 ? err_os(e, "cannot open '%s/" WIRE_SAMPLER_BELL "'", d->path)
			   : 0;
}

int timer_directory_give(struct timer_directory *d, uid_t uid, gid_t gid, struct err *e)
{
	char library[96], library_32bit[96];
	const char *const names[] = { WIRE_SAMPLER_CONTROL,
				      WIRE_SAMPLER_BELL,
				      library,
				      library_32bit,
				      "lib",
				      "lib32",
				      "." };

	if (uid == d->owner)
		return 0;
	snprintf(library, sizeof(library), "lib/%s", d->library->name);
	snprintf(library_32bit, sizeof(library_32bit), "lib32/%s", d->library->name);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (fchownat(d->fd, names[i], uid, gid, AT_SYMLINK_NOFOLLOW) < 0 &&
		    errno != ENOENT)
			return err_os(e, "cannot give '%s/%s' away", d->path, names[i]);
	d->owner = uid;
	return 0;
}

void timer_directory_preload(const struct timer_directory *d, char *ret)
{
	snprintf(ret, TIMER_DIRECTORY_PRELOAD_MAX, "%s/$PLATFORM/%s", d->path,
		 d->library->name);
}

/* Of an item of a list: what the directory is called, and the library. */
static bool is_library(const char *item, size_t size, const char *path)
{
	static const char platform[] = "/$PLATFORM/";
	static const char *const folders[] = { "lib", "lib32" };
	const char *end = memmem(item, size, platform, sizeof(platform) - 1);
	const char *name = end ? memrchr(item, '/', (size_t)(end - item)) : NULL;
	const char *file = end ? end + sizeof(platform) - 1 : NULL;
	char wanted[TIMER_DIRECTORY_PRELOAD_MAX];

	for (size_t i = 0; name && i < sizeof(folders) / sizeof(folders[0]); i++) {
		int n = snprintf(wanted, sizeof(wanted), "%.*s/%s/%.*s",
				 (int)(end - name), name, folders[i],
				 (int)(item + size - file), file);

		if (n < (int)sizeof(wanted) && text_ends(path, wanted))
			return true;
	}
	return false;
}

bool timer_directory_is_preloaded(const char *list, const char *path)
{
	size_t size;

	for (; list && *list; list += size + (list[size] != '\0')) {
		size = strcspn(list, ": ");
		if (is_library(list, size, path))
			return true;
	}
	return false;
}

static void remove_all(const struct timer_directory *d)
{
	static const char *const folders[] = { "lib", "lib32" };

	for (size_t i = 0; i < 2; i++) {
		run_directory_empty(
			openat(d->fd, folders[i],
			       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
			"");
		unlinkat(d->fd, folders[i], AT_REMOVEDIR);
	}
	run_directory_empty(dup(d->fd), "");
	rmdir(d->path);
}

/* Memory of rings that nobody has claimed, and now nobody will. */
static void drop_free_rings(const struct timer_directory *d)
{
	uint32_t claims[WIRE_SAMPLER_N_RINGS_MAX];

	if (pread(d->control_fd, claims, sizeof(claims),
		  offsetof(struct wire_sampler_control, claims)) != sizeof(claims))
		return;
	for (uint32_t i = 0; i < d->n_rings; i++)
		if (!claims[i] &&
		    fallocate(d->control_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      (off_t)wire_sampler_ring_at(i, d->ring_bytes),
			      (off_t)(WIRE_SAMPLER_RECORDS_AT + d->ring_bytes)) < 0)
			return;
}

void timer_directory_remove(struct timer_directory *d, bool is_used)
{
	if (!d->path[0])
		return;
	if (is_used && d->is_preloaded) {
		drop_free_rings(d);
		run_directory_empty(dup(d->fd), WIRE_SAMPLER_RING_PREFIX);
	} else {
		remove_all(d);
	}
	close(d->fd);
	if (d->control_fd >= 0)
		close(d->control_fd);
	d->path[0] = 0;
}
