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
#include <time.h>
#include <unistd.h>

#include "collect/timer_prospect.h"
#include "host/clock.h"
#include "host/procfs.h"

/* File systems tell two changes within that as one. */
#define SAME_TIME_NS UINT64_C(20000000)
/* On a busy machine it takes so long until a program that was executed gets its turn. */
#define AWAIT_NS       UINT64_C(2000000000)
#define AWAIT_PAUSE_NS 2000000

void timer_images_fini(struct timer_images *s)
{
	bool is_used = false;

	vec_each(m, &s->all) {
		is_used |= !(*m)->is_over || kill((pid_t)(*m)->pid, 0) == 0;
		timer_image_free(*m);
	}
	vec_fini(&s->all);
	map_fini(&s->known);
	map_fini(&s->present);
	timer_directory_remove(&s->directory, is_used);
	vec_each(p, &s->more) {
		timer_directory_remove(&(*p)->directory, is_used);
		free(*p);
	}
	vec_fini(&s->more);
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

static void write_bytes(const struct timer_directory *d, size_t at, const void *bytes,
			size_t n)
{
	if (pwrite(d->control_fd, bytes, n, (off_t)at) < 0)
		return; /* the target's loss */
}

static void write_control(const struct timer_directory *d, size_t at, uint32_t value)
{
	write_bytes(d, at, &value, sizeof(value));
}

static void tell_pause(const struct timer_images *s, const struct timer_directory *d)
{
	uint64_t pauses = s->totals.pauses;

	write_bytes(d, offsetof(struct wire_sampler_control, pauses), &pauses,
		    sizeof(pauses));
	write_control(d, offsetof(struct wire_sampler_control, is_paused),
		      (pauses & WIRE_SAMPLER_STANDS) != 0);
}

void timer_images_pause(struct timer_images *s, bool is_paused)
{
	s->totals.pauses =
		wire_sampler_pause(s->totals.pauses, clock_monotonic_ns(), is_paused);
	tell_pause(s, &s->directory);
	vec_each(p, &s->more)
		tell_pause(s, &(*p)->directory);
}

void timer_images_add(struct timer_images *s, struct timer_place *place)
{
	tell_pause(s, &place->directory);
	*vec_push(&s->more) = place;
}

void timer_images_stop(struct timer_images *s)
{
	const size_t at = offsetof(struct wire_sampler_control, is_stopped);

	write_control(&s->directory, at, 1);
	vec_each(p, &s->more)
		write_control(&(*p)->directory, at, 1);
}

static uint64_t n_refused(const struct timer_directory *d)
{
	uint64_t n;

	if (pread(d->control_fd, &n, sizeof(n),
		  offsetof(struct wire_sampler_control, n_refused)) != sizeof(n))
		return 0;
	return n;
}

uint64_t timer_images_refused(const struct timer_images *s)
{
	uint64_t n = n_refused(&s->directory);

	vec_each(p, &s->more)
		n += n_refused(&(*p)->directory);
	return n;
}

bool timer_images_are_prospect(const struct timer_images *s, pid_t pid)
{
	bool are = timer_prospect(pid, &s->directory);

	vec_each(p, &s->more)
		are = are || timer_prospect(pid, &(*p)->directory);
	return are;
}

static bool is_coming(const struct timer_images *s, pid_t pid)
{
	bool is = timer_prospect_is_coming(pid, &s->directory);

	vec_each(p, &s->more)
		is = is || timer_prospect_is_coming(pid, &(*p)->directory);
	return is;
}

static bool is_any_coming(const struct timer_images *s)
{
	own(procfs_ids_fini) struct procfs_ids all = { 0 };

	if (procfs_processes(&all, NULL) < 0)
		return false;
	vec_each(pid, &all.ids)
		if (is_coming(s, *pid))
			return true;
	return false;
}

void timer_images_await(const struct timer_images *s)
{
	uint64_t until_ns = clock_monotonic_ns() + AWAIT_NS;

	while (is_any_coming(s) && clock_monotonic_ns() < until_ns)
		nanosleep(&(struct timespec){ .tv_nsec = AWAIT_PAUSE_NS }, NULL);
}

static int by_start(const void *a, const void *b)
{
	const struct timer_image *const *x = a, *const *y = b;

	return ((*x)->start_ns > (*y)->start_ns) - ((*x)->start_ns < (*y)->start_ns);
}

/* A place that is looked at for rings. */
struct looking {
	struct timer_images *images;
	struct timer_claims *claims;
};

/* NULL: one that is none. */
static void add_image(void *looking, struct timer_ring *ring)
{
	struct looking *l = looking;
	struct timer_images *s = l->images;
	struct timer_image *m;

	if (!ring) {
		s->totals.damaged++;
		return;
	}
	m = timer_image_new(ring, l->claims, &s->totals);
	m->is_gone = timer_claims_was_gone(l->claims, ring) && !s->totals.lag_ns;
	*vec_push(&s->all) = m;
}

/* False: the target is making it. */
static bool open_ring(struct looking *l, const struct timer_directory *d, int dir,
		      const char *name)
{
	struct timer_ring *ring = NULL;

	if (timer_ring_open(dir, name, d->owner, &ring, NULL) == ERR_UNSUPPORTED)
		return false;
	unlinkat(dir, name, 0);
	add_image(l, ring);
	return true;
}

/* False: not all that is there could be opened. */
static bool open_rings(struct looking *l, const struct timer_directory *d)
{
	DIR *dir = fdopendir(openat(d->fd, ".", O_RDONLY | O_CLOEXEC));
	bool are_all = dir != NULL;
	struct dirent *x;

	while (dir && (x = readdir(dir)))
		if (!strncmp(x->d_name, WIRE_SAMPLER_RING_PREFIX,
			     sizeof(WIRE_SAMPLER_RING_PREFIX) - 1))
			are_all &= open_ring(l, d, dirfd(dir), x->d_name);
	if (dir)
		closedir(dir);
	return are_all;
}

/* When a file came or went last; 0: so lately that the next one may be told as the same
 * time. */
static uint64_t changed_ns(const struct timer_directory *d)
{
	struct stat st;
	uint64_t at;

	if (fstat(d->fd, &st) < 0)
		return 0;
	at = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	return at + SAME_TIME_NS < clock_read_ns(CLOCK_REALTIME) ? at : 0;
}

static void find_rings_in(struct timer_images *s, struct timer_directory *d,
			  struct timer_claims *claims, uint64_t now_ns)
{
	struct looking l = { s, claims };
	uint64_t changed = changed_ns(d);

	timer_claims_look(claims, d, now_ns, add_image, &l);
	if (!changed || changed != d->known_ns)
		d->known_ns = open_rings(&l, d) ? changed : 0;
}

/* New images, behind those that are known, in the order in which they started. */
static void find_rings(struct timer_images *s, uint64_t now_ns)
{
	size_t n_before = s->all.n;

	find_rings_in(s, &s->directory, &s->claims, now_ns);
	vec_each(p, &s->more)
		find_rings_in(s, &(*p)->directory, &(*p)->claims, now_ns);
	if (s->all.n > n_before)
		qsort(s->all.at + n_before, s->all.n - n_before,
		      sizeof(struct timer_image *), by_start);
}

/* Which of them follow each other in a process. */
static void link_replaced(struct timer_images *s)
{
	map_clear(&s->present);
	for (size_t i = s->all.n; i-- > 0;) {
		struct timer_image *m = s->all.at[i];
		uint64_t *next = map_slot(&s->present, m->pid, NULL);

		m->is_replaced = *next != 0;
		if (*next)
			((struct timer_image *)(uintptr_t)*next)->previous = m;
		*next = (uintptr_t)m;
	}
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
		timer_claims_give_back(m->claims, m->ring);
		timer_image_free(m);
	}
	s->all.n = n;
}

/* May others tell of it first? */
static bool is_too_new(struct timer_image *m, uint64_t now_ns)
{
	if (!m->found_ns)
		m->found_ns = now_ns;
	return now_ns - m->found_ns < m->totals->lag_ns;
}

/* Who is gone has made all its rings, and written everything: ask before looking.  Most
 * short processes come and go between two looks. */
static void look_for_gone(struct timer_images *s, uint64_t now_ns)
{
	timer_claims_look_for_gone(&s->claims, &s->directory);
	vec_each(p, &s->more)
		timer_claims_look_for_gone(&(*p)->claims, &(*p)->directory);
	vec_each(m, &s->all)
		if (!(*m)->is_over && !is_too_new(*m, now_ns))
			(*m)->is_gone = !timer_image_check(*m, now_ns);
}

/* An image whose process has exec'ed another ends before that one is taken, but its
 * children are taken before it ends. */
static bool take_all(struct timer_images *s, uint64_t now_ns, bool is_final)
{
	bool is_busy = false;

	for (size_t i = 0; i < s->all.n; i++) {
		struct timer_image *m = s->all.at[i];

		if (!is_final && is_too_new(m, now_ns))
			continue;
		if (m->previous)
			timer_image_replace(m->previous, m);
		m->previous = NULL;
		if (!m->is_over)
			timer_image_drain(m, now_ns, m->is_gone);
		if (!m->is_over && s->totals.tracing)
			is_busy |= s->totals.tracing->go_on(m);
	}
	return is_busy;
}

/* A copy of it that is not begun yet will have its modules. */
static bool has_new_child(struct timer_images *s, const struct timer_image *m,
			  uint64_t now_ns)
{
	if (!s->totals.lag_ns) /* none is too new */
		return false;
	vec_each(x, &s->all)
		if ((*x)->ppid == m->pid && *x != m && is_too_new(*x, now_ns))
			return true;
	return false;
}

/* Nobody needs it any more.  What its process has executed ends it when that begins,
 * which may be too new for it yet, though the process be gone by now. */
static bool is_at_end(struct timer_images *s, const struct timer_image *m,
		      uint64_t now_ns)
{
	return m->is_gone && !m->is_replaced && !has_new_child(s, m, now_ns);
}

bool timer_images_drain(struct timer_images *s, bool is_final)
{
	bool is_busy;
	uint64_t now_ns = clock_monotonic_ns();
	size_t n_known = s->all.n;

	look_for_gone(s, now_ns);
	find_rings(s, now_ns);
	link_replaced(s);
	is_busy = take_all(s, now_ns, is_final);
	for (size_t i = 0; i < s->all.n; i++) {
		struct timer_image *m = s->all.at[i];

		/* Who was found just now may have a child that has no ring yet. */
		if (is_final || (i < n_known && is_at_end(s, m, now_ns)))
			timer_image_end(m, now_ns,
					m->is_gone || timer_image_has_exited(m));
	}
	if (!is_final)
		drop_ended(s);
	return is_busy;
}
