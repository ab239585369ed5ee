/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_images.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/clock.h"

void timer_images_fini(struct timer_images *s)
{
	bool is_used = false;

	vec_each(m, &s->all) {
		is_used |= !(*m)->is_over || kill((pid_t)(*m)->pid, 0) == 0;
		timer_image_free(*m);
	}
	vec_fini(&s->all);
	map_fini(&s->known);
	timer_directory_remove(&s->directory, is_used);
}

int timer_images_give(struct timer_images *s, pid_t pid, struct err *e)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &st) < 0)
		return err_os(e, "cannot look at process %d", (int)pid);
	return timer_directory_give(&s->directory, st.st_uid, st.st_gid, e);
}

static void write_control(const struct timer_images *s, size_t at, uint32_t value)
{
	if (pwrite(s->directory.control_fd, &value, sizeof(value), (off_t)at) < 0)
		return; /* the target's loss */
}

void timer_images_pause(struct timer_images *s, bool is_paused)
{
	write_control(s, offsetof(struct wire_sampler_control, is_paused), is_paused);
}

void timer_images_stop(struct timer_images *s)
{
	write_control(s, offsetof(struct wire_sampler_control, is_stopped), 1);
}

uint64_t timer_images_refused(const struct timer_images *s)
{
	uint64_t n;

	if (pread(s->directory.control_fd, &n, sizeof(n),
		  offsetof(struct wire_sampler_control, n_refused)) != sizeof(n))
		return 0;
	return n;
}

static int by_start(const void *a, const void *b)
{
	const struct timer_image *const *x = a, *const *y = b;

	return ((*x)->start_ns > (*y)->start_ns) - ((*x)->start_ns < (*y)->start_ns);
}

/* NULL: one that is none. */
static void add_image(void *images, struct timer_ring *ring)
{
	struct timer_images *s = images;

	if (ring)
		*vec_push(&s->all) = timer_image_new(ring, &s->totals);
	else
		s->totals.damaged++;
}

static void open_ring(struct timer_images *s, int dir, const char *name)
{
	struct timer_ring *ring = NULL;

	if (timer_ring_open(dir, name, s->directory.owner, &ring, NULL) ==
	    ERR_UNSUPPORTED) /* the target is making it */
		return;
	unlinkat(dir, name, 0);
	add_image(s, ring);
}

/* New images, behind those that are known, in the order in which they started. */
static void find_rings(struct timer_images *s, uint64_t now_ns)
{
	DIR *dir = fdopendir(openat(s->directory.fd, ".", O_RDONLY | O_CLOEXEC));
	size_t n_before = s->all.n;
	struct dirent *x;

	timer_claims_look(&s->claims, &s->directory, now_ns, add_image, s);
	while (dir && (x = readdir(dir)))
		if (!strncmp(x->d_name, WIRE_SAMPLER_RING_PREFIX,
			     sizeof(WIRE_SAMPLER_RING_PREFIX) - 1))
			open_ring(s, dirfd(dir), x->d_name);
	if (dir)
		closedir(dir);
	if (s->all.n > n_before)
		qsort(s->all.at + n_before, s->all.n - n_before,
		      sizeof(struct timer_image *), by_start);
}

/* An image whose process has exec'ed another ends before that one is taken. */
static void end_replaced(struct timer_images *s)
{
	struct map newest = { 0 };

	for (size_t i = s->all.n; i-- > 0;) {
		struct timer_image *m = s->all.at[i];
		uint64_t *next = map_slot(&newest, m->pid, NULL);

		if (*next)
			timer_image_replace(m, (struct timer_image *)(uintptr_t)*next);
		*next = (uintptr_t)m;
	}
	map_fini(&newest);
}

static void drop_ended(struct timer_images *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->all.n; i++) {
		struct timer_image *m = s->all.at[i];

		if (!m->is_over) {
			s->all.at[n++] = m;
			continue;
		}
		timer_claims_give_back(&s->claims, m->ring);
		timer_image_free(m);
	}
	s->all.n = n;
}

void timer_images_drain(struct timer_images *s, bool is_final)
{
	uint64_t now_ns = clock_monotonic_ns();

	find_rings(s, now_ns);
	end_replaced(s);
	for (size_t i = 0; i < s->all.n; i++) {
		struct timer_image *m = s->all.at[i];
		/* Ask before, so that an image that has ended has written everything. */
		bool is_there = m->is_over || timer_image_check(m, now_ns);

		if (is_there && !m->is_over)
			timer_image_drain(m, false);
		if (!is_there || is_final)
			timer_image_end(m, now_ns,
					!is_there || timer_image_has_exited(m));
	}
	if (!is_final)
		drop_ended(s);
}
