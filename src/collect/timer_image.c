/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_image.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "collect/timer_images.h"
#include "collect/timer_prospect.h"
#include "collect/unfollowed.h"
#include "host/clock.h"
#include "host/proc_maps.h"
#include "host/procfs.h"

#define MAPS_MAX ((size_t)64 << 20)
/* How often mappings are read: while there is new code, for a hundredth of the time, and
 * at most. */
#define LOOK_NS_MIN UINT64_C(10000000)
#define LOOK_SHARE  100
#define LOOK_NS_MAX UINT64_C(1000000000)
#define EXEC_NS	    UINT64_C(100000000)
#define PROSPECT_NS UINT64_C(10000000000) /* for one that should load it */
/* So often what a process has become is asked for, by way of its files in /proc. */
#define CHECK_NS      UINT64_C(16000000)
#define SCAN_NS	      UINT64_C(50000000)
#define SCAN_PAUSE_NS UINT64_C(10000000000)

struct timer_image *timer_image_new(struct timer_ring *ring, struct timer_claims *claims,
				    struct timer_totals *totals)
{
	struct timer_image *m = xcalloc(1, sizeof(*m));
	const struct wire_sampler_ring *h = timer_ring_header(ring);

	m->ring = ring;
	m->claims = claims;
	m->totals = totals;
	m->pid = h->pid;
	m->ppid = h->ppid;
	m->start_ns = h->start_ns;
	m->scan_pause_ns = SCAN_NS;
	m->look_pause_ns = LOOK_NS_MIN;
	totals->n_images++;
	return m;
}

void timer_image_free(struct timer_image *m)
{
	if (!m)
		return;
	timer_ring_free(m->ring);
	late_image_free(m->late);
	vec_fini(&m->ranges);
	map_fini(&m->threads);
	thread_names_fini(&m->names);
	map_fini(&m->shares);
	map_fini(&m->strangers);
	free(m);
}

static struct timer_image *image_of(const struct timer_totals *t, uint32_t pid)
{
	const uint64_t *p = map_find(t->known, pid);

	return p ? (struct timer_image *)(uintptr_t)*p : NULL;
}

struct late_image *timer_image_late(struct timer_image *m)
{
	const struct timer_image *parent = image_of(m->totals, m->ppid);

	if (!m->late)
		m->late = late_image_new(m->totals->tracker, m->start_ns, m->pid,
					 m->is_fork, parent ? parent->late : NULL);
	return m->late;
}

/* Where code is. */

static bool is_known(const struct timer_image *m, uint64_t pc)
{
	vec_each(r, &m->ranges)
		if (pc >= r->start && pc < r->end)
			return true;
	return false;
}

static void add_range(struct timer_image *m, uint64_t start, uint64_t end)
{
	vec_each(r, &m->ranges)
		if (r->start == start) {
			r->end = end > r->end ? end : r->end;
			return;
		}
	*vec_push(&m->ranges) = (struct timer_range){ start, end };
}

static void add_mapping(struct timer_image *m, uint64_t time_ns,
			const struct tracker_mmap *map)
{
	add_range(m, map->start, map->end);
	if (m->totals->tracing)
		late_image_mmap(timer_image_late(m), time_ns, map);
	else
		tracker_mmap(m->totals->tracker, time_ns, m->pid, map);
}

/* What a compiler fills with code grows at its end. */
static bool is_new_code(const struct timer_image *m, const struct proc_map *map)
{
	return map->is_exec && (!is_known(m, map->start) ||
				(map->path[0] != '/' && !is_known(m, map->end - 1)));
}

/* Code that the target cannot name: of run-time compilers, of modules loaded by a C
 * library without _dl_find_object.  False: there is nothing new. */
static bool read_maps(struct timer_image *m, uint64_t now_ns)
{
	struct buf text = { 0 };
	struct proc_map map;
	char path[64];
	bool has_new = false;

	snprintf(path, sizeof(path), "/proc/%u/maps", m->pid);
	if (procfs_read(path, MAPS_MAX, &text, NULL) == 0) {
		const char *at = buf_str(&text), *end = at + text.size;

		while (proc_maps_next(&at, end, &map)) {
			if (!is_new_code(m, &map))
				continue;
			has_new = true;
			add_mapping(
				m, now_ns,
				&(struct tracker_mmap){ .start = map.start,
							.end = map.end,
							.file_offset = map.file_offset,
							.path = map.path,
							.inode = map.inode,
							.is_exec = true });
		}
	}
	buf_fini(&text);
	return has_new;
}

/* What no mapping explains comes again and again where it is no code. */
static void look_at_maps(struct timer_image *m, uint64_t time_ns)
{
	uint64_t from_ns = clock_monotonic_ns(), least_ns;
	bool has_new = read_maps(m, time_ns);

	m->has_outside = false;
	m->looked_ns = clock_monotonic_ns();
	least_ns = LOOK_SHARE * (m->looked_ns - from_ns);
	m->look_pause_ns = has_new ? LOOK_NS_MIN : 2 * m->look_pause_ns;
	if (m->look_pause_ns < least_ns)
		m->look_pause_ns = least_ns;
	if (m->look_pause_ns > LOOK_NS_MAX)
		m->look_pause_ns = LOOK_NS_MAX;
}

/* A path that the program gave its dynamic linker is relative to where it was then. */
static const char *whole_path(const struct timer_image *m, const char *path,
			      uint64_t start, struct proc_map *map)
{
	struct buf text = { 0 };
	char name[64];

	if (path[0] == '/' || path[0] == '[')
		return path;
	if (!path[0])
		return m->exe;
	snprintf(name, sizeof(name), "/proc/%u/maps", m->pid);
	map->path[0] = 0;
	if (procfs_read(name, MAPS_MAX, &text, NULL) == 0) {
		const char *at = buf_str(&text), *end = at + text.size;

		while (proc_maps_next(&at, end, map) && map->start != start)
			map->path[0] = 0;
	}
	buf_fini(&text);
	return map->path[0] ? map->path : path;
}

/* Records. */

/* Its first module will name it too, but that comes with its first sample. */
static void name_program(struct timer_image *m)
{
	struct writer *w = m->totals->writer;
	uint32_t id = m->totals->tracing ? late_image_process(timer_image_late(m))
					 : tracker_process_id(m->totals->tracker, m->pid);
	struct model_process model;

	if (!m->exe[0])
		return;
	model = *writer_process_get(w, id);
	model.exe = writer_string(w, m->exe);
	writer_process_update(w, id, &model);
}

static void take_start(struct timer_image *m, const struct timer_record *r)
{
	struct tracker *t = m->totals->tracker;
	const struct timer_image *parent = image_of(m->totals, m->ppid);
	bool is_new, is_fork = r->start.origin == WIRE_SAMPLER_FORK;

	if (parent == m) /* as no kernel has it */
		parent = NULL;
	m->is_fork = is_fork;
	*map_slot(m->totals->known, m->pid, &is_new) = (uintptr_t)m;
	strcpy(m->exe, r->path);
	if (parent && is_fork)
		vec_each(x, &parent->ranges)
			*vec_push(&m->ranges) = *x;
	m->is_attached = r->start.origin == WIRE_SAMPLER_ATTACH;
	if (parent && !m->is_attached && (is_fork || (is_new && !m->has_past)))
		tracker_fork(t, m->start_ns, m->pid, m->pid, m->ppid, m->ppid);
	if (m->is_attached && tracker_process_id(t, m->pid) == MODEL_NONE &&
	    tracker_snapshot(t, m->start_ns, m->pid, NULL) == 0) {
		name_program(m);
	} else if (!is_fork) {
		tracker_exec(t, m->start_ns, m->pid, m->pid, r->comm);
		name_program(m);
	}
	if (m->totals->tracing) /* while its parent is there */
		timer_image_late(m);
	*map_slot(&m->threads, m->pid, NULL) = m->is_sampled;
}

static void take_module(struct timer_image *m, const struct timer_record *r)
{
	const struct wire_sampler_module *x = &r->module;
	own(freep) struct proc_map *map = xcalloc(1, sizeof(*map));

	add_mapping(
		m, x->time_ns,
		&(struct tracker_mmap){ .start = x->start,
					.end = x->end,
					.file_offset = x->file_offset,
					.path = whole_path(m, r->path, x->start, map),
					.build_id = x->build_id_size ? x->build_id : NULL,
					.build_id_size = x->build_id_size,
					.is_exec = true });
}

/* The others will have stood for its CPU time (inject/account.h), but it is not seen. */
static void end_thread(struct timer_image *m, uint32_t tid)
{
	const uint64_t *is_sampled = map_find(&m->threads, tid);

	m->totals->n_unsampled += is_sampled && !*is_sampled;
	map_remove(&m->threads, tid);
}

/* With its first event. */
static void take_traced_thread(struct timer_image *m, const struct timer_record *r)
{
	const struct wire_sampler_thread *x = &r->thread;
	struct late_image *late = timer_image_late(m);

	if (x->tid != m->pid && r->comm[0])
		thread_names_tell(&m->names, m->totals->writer,
				  late_image_thread(late, x->time_ns, x->tid), x->tid,
				  r->comm);
}

static void take_thread(struct timer_image *m, const struct timer_record *r)
{
	const struct wire_sampler_thread *x = &r->thread;
	struct tracker *t = m->totals->tracker;

	if (r->kind == WIRE_SAMPLER_THREAD) {
		tracker_fork(t, x->time_ns, m->pid, x->tid, m->pid, m->pid);
		*map_slot(&m->threads, x->tid, NULL) = false;
	}
	if (r->comm[0] && x->tid != m->pid)
		tracker_comm(t, x->time_ns, m->pid, x->tid, r->comm);
	if (r->kind != WIRE_SAMPLER_LEAVE)
		return;
	tracker_exit(t, x->time_ns, m->pid, x->tid);
	end_thread(m, x->tid);
}

/* Plans with a longer interval than the timers' get every nth. */
static uint32_t share_of(struct timer_image *m, size_t plan, uint32_t tid, uint64_t count)
{
	uint64_t ratio = m->totals->plans[plan].choice.interval / m->totals->interval_ns;
	uint64_t *rest;

	if (ratio <= 1)
		return (uint32_t)count;
	rest = map_slot(&m->shares, (uint64_t)plan << 32 | tid, NULL);
	*rest += count;
	count = *rest / ratio;
	*rest %= ratio;
	return (uint32_t)count;
}

/* The n innermost frames. */
static void look_for_outside(struct timer_image *m, const struct timer_record *r,
			     uint32_t n, uint64_t time_ns)
{
	for (uint32_t i = 0; i < n && !m->has_outside; i++)
		m->has_outside = !is_known(m, r->pcs[i] - (i > 0));
	if (m->has_outside && time_ns > m->looked_ns + m->look_pause_ns)
		look_at_maps(m, time_ns);
}

uint32_t timer_image_stack(struct timer_image *m, const struct timer_record *r)
{
	const struct wire_tracer_stack *x = &r->stack;

	look_for_outside(m, r, x->n_frames, x->time_ns);
	return late_image_stack(timer_image_late(m),
				&(struct tracker_sample){ .time_ns = x->time_ns,
							  .pid = m->pid,
							  .tid = x->tid,
							  .user_pcs = r->pcs,
							  .user_exact = r->exact,
							  .is_call = true,
							  .n_user = x->n_frames,
							  .stop = x->stop });
}

static void take_sample(struct timer_image *m, const struct timer_record *r)
{
	const struct wire_sampler_sample *x = &r->sample;
	struct timer_totals *totals = m->totals;
	struct tracker_sample s = { .time_ns = x->time_ns,
				    .pid = m->pid,
				    .tid = x->tid,
				    .cpu = x->cpu,
				    .user_pcs = r->pcs,
				    .user_exact = r->exact,
				    .n_user = x->n_frames,
				    .stop = x->stop };

	look_for_outside(m, r, (uint32_t)x->n_frames - x->n_shared, x->time_ns);
	*map_slot(&m->threads, x->tid, NULL) = true;
	totals->sampled += x->count;
	for (size_t i = 0; i < totals->n_plans; i++) {
		const struct plan *p = &totals->plans[i];

		if (p->source != totals->ops)
			continue;
		s.count = share_of(m, i, x->tid, x->count);
		s.weight = s.count * p->choice.interval;
		s.event = p->events[EXPERIMENT_CPU];
		s.is_pc_only = p->choice.experiment->is_pc_only;
		if (s.count)
			tracker_sample(totals->tracker, &s);
	}
}

static void take(void *ctx, const struct timer_record *r)
{
	struct timer_image *m = ctx;

	switch (r->kind) {
	case WIRE_SAMPLER_START:
		take_start(m, r);
		break;
	case WIRE_SAMPLER_MODULE:
		take_module(m, r);
		break;
	case WIRE_SAMPLER_THREAD:
	case WIRE_SAMPLER_LEAVE:
		if (m->totals->tracing)
			take_traced_thread(m, r);
		else
			take_thread(m, r);
		break;
	case WIRE_SAMPLER_SAMPLE:
		take_sample(m, r);
		break;
	default:
		if (m->totals->tracing)
			m->totals->tracing->take(m, r);
	}
}

void timer_image_drain(struct timer_image *m, uint64_t now_ns, bool is_final)
{
	/* A ring that its owner has spoilt costs that process' samples only. */
	if (!m->is_drained &&
	    timer_ring_drain(m->ring, now_ns, is_final, take, m, NULL) < 0)
		m->totals->damaged++;
	m->is_drained |= is_final;
}

static void add_totals(struct timer_totals *t, const struct timer_ring *ring)
{
	const struct wire_sampler_ring *h = timer_ring_header(ring);

	t->n_signals += h->n_signals;
	t->n_intervals += h->n_intervals;
	t->n_dropped += h->n_dropped;
	t->handler_ns += h->handler_ns;
	t->n_threads_refused += h->n_threads_refused;
	t->damaged += timer_ring_damaged(ring);
}

/* Once: nobody writes any more. */
static bool finish(struct timer_image *m, uint64_t now_ns)
{
	if (m->is_over)
		return false;
	timer_image_drain(m, now_ns, true);
	if (m->totals->tracing)
		m->totals->tracing->end(m, now_ns);
	late_image_end(m->late);
	m->is_over = true;
	add_totals(m->totals, m->ring);
	if (image_of(m->totals, m->pid) == m)
		map_remove(m->totals->known, m->pid);
	return true;
}

static void count_unsampled(const struct timer_image *m, uint32_t except)
{
	for (size_t i = 0; i < m->threads.cap; i++) {
		const struct map_entry *x = &m->threads.at[i];

		m->totals->n_unsampled += x->used && x->key != except && !x->value;
	}
}

static void exit_threads(const struct timer_image *m, uint64_t now_ns)
{
	if (m->late && !late_image_is_current(m->late))
		return;
	for (size_t i = 0; i < m->threads.cap; i++)
		if (m->threads.at[i].used)
			tracker_exit(m->totals->tracker, now_ns, m->pid,
				     (uint32_t)m->threads.at[i].key);
}

void timer_image_end(struct timer_image *m, uint64_t now_ns, bool has_exited)
{
	if (!finish(m, now_ns))
		return;
	if (!has_exited) {
		thread_names_ask(&m->names, m->totals->writer, m->pid);
		return;
	}
	count_unsampled(m, 0);
	exit_threads(m, now_ns);
}

void timer_image_replace(struct timer_image *m, struct timer_image *next)
{
	const uint64_t *is_sampled;

	if (!finish(m, next->start_ns))
		return;
	count_unsampled(m, m->pid);
	next->has_past = true;
	is_sampled = map_find(&m->threads, m->pid);
	next->is_sampled = is_sampled && *is_sampled;
}

/* The process in /proc. */

void timer_image_seccomp(uint32_t pid, char *ret, size_t cap)
{
	char path[64], text[4096], *at;

	ret[0] = 0;
	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	if (procfs_read_text(path, text, sizeof(text), NULL) < 0)
		return;
	at = strstr(text, "\nSeccomp:"); /* the number of filters is the next line */
	if (at)
		snprintf(ret, cap, "%.*s", (int)strcspn(at, "_") + 20, at);
}

/* Threads that no hook in the target has seen.  It may not make the system calls for
 * it once it has restricted them. */
static void check_threads(struct timer_image *m, uint64_t now_ns)
{
	struct stat st;
	char path[64], seccomp[64];

	if (m->totals->tracing)
		thread_names_ask_due(&m->names, m->totals->writer, m->pid, now_ns);
	if (now_ns < m->scan_ns || m->totals->tracing)
		return;
	snprintf(path, sizeof(path), "/proc/%u/task", m->pid);
	if (stat(path, &st) < 0 ||
	    st.st_nlink - 2 == timer_ring_header(m->ring)->n_threads) {
		m->scan_ns = now_ns + SCAN_NS;
		m->scan_pause_ns = SCAN_NS;
		return;
	}
	timer_image_seccomp(m->pid, seccomp, sizeof(seccomp));
	if (!strcmp(seccomp, m->totals->seccomp))
		timer_ring_request(m->ring, WIRE_SAMPLER_SCAN);
	m->scan_ns = now_ns + m->scan_pause_ns;
	if (m->scan_pause_ns < SCAN_PAUSE_NS)
		m->scan_pause_ns *= 2;
}

static const char *why_not_followed(const struct timer_totals *t, uint32_t pid)
{
	const char *never = timer_prospect_never((pid_t)pid);

	if (t->is_visit && !t->brings)
		return "it was executed after the recording had begun: nothing is put "
		       "into such programs";
	if (never)
		return never;
	return t->is_visit
		       ? "it was executed in a way that brings no library to it: by "
			 "the kernel's call, by system() or popen() of a program that "
			 "was executed itself, as another user, or where other files "
			 "are seen"
		       : "it has another user's rights, a cleared environment, or sees "
			 "no library of ours: none is loaded into it";
}

static void note_not_followed(struct timer_totals *t, uint64_t now_ns, uint32_t pid,
			      const char *exe)
{
	const char *base = strrchr(exe, '/');

	tracker_exec(t->tracker, now_ns, pid, pid, base ? base + 1 : exe);
	unfollowed_note(t->tracker, t->writer, pid, exe, why_not_followed(t, pid));
	t->n_not_followed++;
}

/* A new image makes its ring within moments; one that has none after a while will not
 * have one, unless it has only not come so far. */
static bool may_come(const struct timer_image *m, uint32_t pid, uint64_t waited_ns)
{
	const struct timer_totals *t = m->totals;

	if ((t->is_visit && !t->brings) || timer_prospect_never((pid_t)pid))
		return false;
	return waited_ns < EXEC_NS || (waited_ns < PROSPECT_NS && t->images &&
				       timer_images_are_prospect(t->images, (pid_t)pid));
}

/* A child without a ring: seen for the first time, or for long enough to be sure? */
static void check_child(struct timer_image *m, uint64_t now_ns, uint32_t pid)
{
	char exe[4096] = "?";
	struct err why = { 0 };
	uint64_t *first;
	bool is_new;

	if (map_find(m->totals->known, pid) || map_find(m->totals->present, pid) ||
	    (m->totals->refused && map_find(m->totals->refused, pid)))
		return;
	first = map_slot(&m->strangers, pid, &is_new);
	if (is_new)
		*first = now_ns;
	if (!*first)
		return;
	if (procfs_exe((pid_t)pid, exe, sizeof(exe), &why) == 0
		    ? !strcmp(exe, m->exe) /* it has not exec'ed yet */
		    : why.os == ENOENT) {  /* it is about to be gone */
		*first = now_ns;
		return;
	}
	if (may_come(m, pid, now_ns - *first))
		return;
	*first = 0; /* said once */
	tracker_fork(m->totals->tracker, now_ns, pid, pid, m->pid, m->pid);
	note_not_followed(m->totals, now_ns, pid, exe);
}

static void check_children(struct timer_image *m, uint64_t now_ns)
{
	char path[64], text[4096], *at = text;

	if (!m->totals->follows)
		return;
	snprintf(path, sizeof(path), "/proc/%u/task/%u/children", m->pid, m->pid);
	if (procfs_read_text(path, text, sizeof(text), NULL) < 0)
		return;
	for (unsigned long pid; (pid = strtoul(at, &at, 10)) && pid <= UINT32_MAX;)
		check_child(m, now_ns, (uint32_t)pid);
}

/* To its parent, to whom it would be a child without a ring. */
static void note_said(const struct timer_image *m)
{
	struct timer_image *parent = image_of(m->totals, m->ppid);

	if (parent)
		*map_slot(&parent->strangers, m->pid, NULL) = 0;
}

static bool check_exe(struct timer_image *m, uint64_t now_ns)
{
	char exe[4096] = "?";
	struct err why = { 0 };

	if (!m->exe[0])
		return true;
	if (procfs_exe((pid_t)m->pid, exe, sizeof(exe), &why) == 0
		    ? !strcmp(exe, m->exe)
		    : why.os == ENOENT) /* it is about to be gone */
		return true;
	if (!m->other_exe_ns)
		m->other_exe_ns = now_ns;
	if (may_come(m, m->pid, now_ns - m->other_exe_ns))
		return true;
	if (kill((pid_t)m->pid, 0) == 0 || errno == EPERM) {
		note_not_followed(m->totals, now_ns, m->pid, exe);
		note_said(m);
	}
	return false;
}

bool timer_image_has_exited(const struct timer_image *m)
{
	struct procfs_ids tids = { 0 };
	struct procfs_stat stat;
	bool has_others = procfs_tasks((pid_t)m->pid, &tids, NULL) == 0 && tids.ids.n > 1;

	procfs_ids_fini(&tids);
	return !has_others &&
	       (procfs_stat((pid_t)m->pid, &stat, NULL) < 0 || stat.state == 'Z');
}

/* Most processes have ended before. */
static bool is_due(struct timer_image *m, uint64_t now_ns)
{
	bool is_new = !m->check_ns;

	if (now_ns < m->check_ns)
		return false;
	m->check_ns = now_ns + CHECK_NS;
	return !is_new;
}

bool timer_image_check(struct timer_image *m, uint64_t now_ns)
{
	if (kill((pid_t)m->pid, 0) < 0 && errno == ESRCH)
		return false;
	if (!is_due(m, now_ns))
		return true;
	if (!check_exe(m, now_ns))
		return false;
	check_threads(m, now_ns);
	check_children(m, now_ns);
	return true;
}
