/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_files.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "host/privilege.h"

#define RING_MAX	  ((size_t)8 << 20)
#define RING_BURSTS	  ((size_t)32 << 20) /* when every event is a sample */
#define RING_MIN	  ((size_t)64 << 10)
#define RINGS_MAX	  ((size_t)128 << 20) /* all CPUs together */
#define RING_LOCKED_LIMIT ((size_t)512 << 10) /* of users without CAP_IPC_LOCK */

size_t perf_files_ring_bytes(size_t n_cpus, bool has_bursts)
{
	struct privilege p;
	size_t bytes = has_bursts ? RING_BURSTS : RING_MAX;

	while (bytes > RING_LOCKED_LIMIT && bytes * n_cpus > RINGS_MAX)
		bytes /= 2;
	privilege_read(&p);
	if (!p.may_lock && p.paranoid >= 0 && bytes > RING_LOCKED_LIMIT)
		bytes = RING_LOCKED_LIMIT;
	return bytes;
}

void perf_files_init(struct perf_files *f, const struct cpus *cpus, size_t ring_bytes)
{
	*f = (struct perf_files){ .ring_bytes = ring_bytes };
	vec_reserve(&f->cpus, cpus->ids.n);
	for (size_t i = 0; i < cpus->ids.n; i++)
		*vec_push(&f->cpus) = (struct perf_cpu){ .id = cpus->ids.at[i],
							 .fd = -1,
							 .deep_fd = -1 };
}

void perf_files_fini(struct perf_files *f)
{
	vec_each(c, &f->cpus) {
		perf_ring_unmap(&c->ring);
		closep(&c->deep_fd);
	}
	perf_deep_free(f->deep);
	vec_each(x, &f->files)
		closep(&x->fd);
	perf_merge_fini(&f->merge);
	map_fini(&f->ids);
	vec_fini(&f->cpus);
	vec_fini(&f->files);
	vec_fini(&f->streams);
}

static int note_id(struct perf_files *f, int fd, uint32_t stream, struct err *e)
{
	uint64_t id;

	if (ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0)
		return err_os(e, "cannot identify an event");
	*map_slot(&f->ids, id, NULL) = stream;
	return 0;
}

/* Samples with their stacks go to the ring of all else. */
static int open_deep(struct perf_files *f, struct perf_cpu *c, uint32_t stream,
		     int ring_fd, struct err *e)
{
	own(closep) int fd = perf_stream_open(&f->streams.at[stream], -1, (int)c->id, e);
	int rc = fd < 0 ? fd : note_id(f, fd, stream, e);

	if (rc < 0)
		return rc;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd) != 0)
		return err_os(e, "cannot share the ring of CPU %u", c->id);
	rc = perf_deep_set_output(f->deep, c->id, fd, e);
	if (rc < 0)
		return rc;
	closep(&c->deep_fd);
	c->deep_fd = steal_fd(&fd);
	return 0;
}

/* ERR_OS with ENODEV: the CPU is offline.  All else will not get better. */
static int add_deep(struct perf_files *f, struct perf_cpu *c, int ring_fd, struct err *e)
{
	struct err why = { 0 };
	uint32_t i = 0;

	while (i < f->streams.n && f->streams.at[i].spec->role != PERF_STREAM_DEEP)
		i++;
	if (i == f->streams.n || c->is_shallow)
		return 0;

	int rc = open_deep(f, c, i, ring_fd, &why);

	c->is_shallow = rc < 0 && why.os != ENODEV;
	if (rc < 0 && e)
		*e = why;
	return rc;
}

/* What an offline CPU cannot have yet is opened when it comes online. */
static int begin_deep(struct perf_files *f, struct perf_cpu *c, int ring_fd,
		      struct err *e)
{
	int rc = add_deep(f, c, ring_fd, e);

	return c->is_shallow ? rc : 0;
}

static int attach_ring(struct perf_files *f, struct perf_cpu *c, int fd, struct err *e)
{
	if (c->fd >= 0) {
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->fd) != 0)
			return err_os(e, "cannot share the ring of CPU %u", c->id);
		return 0;
	}

	int rc = perf_ring_map(&c->ring, fd, f->ring_bytes, RING_MIN, e);

	if (rc == 0)
		rc = begin_deep(f, c, fd, e);
	if (rc < 0) {
		perf_ring_unmap(&c->ring);
		return rc;
	}
	c->fd = fd;
	perf_merge_add(&f->merge, &c->ring);
	return 0;
}

static int attach_deep(struct perf_files *f, struct perf_cpu *c, int fd, uint32_t stream,
		       struct err *e)
{
	int rc = perf_deep_attach(f->deep, fd, stream, e);

	c->is_shallow = rc < 0;
	return rc;
}

static int open_event(struct perf_stream *s, pid_t tid, const struct perf_cpu *c,
		      struct err *e)
{
	struct perf_stream shallow = *s;

	if (!c->is_shallow)
		return perf_stream_open(s, tid, (int)c->id, e);
	shallow.attr.sample_stack_user = s->dump_bytes;
	return perf_stream_open(&shallow, tid, (int)c->id, e);
}

/* The ring last: the event that owns it stays. */
static int open_file(struct perf_files *f, uint32_t stream, pid_t tid, struct perf_cpu *c,
		     struct err *e)
{
	struct perf_stream *s = &f->streams.at[stream];
	own(closep) int fd = open_event(s, tid, c, e);

	if (fd < 0)
		return fd;

	int rc = note_id(f, fd, stream, e);

	if (rc == 0 && f->deep && s->has_deep && !c->is_shallow)
		rc = attach_deep(f, c, fd, stream, e);
	if (rc == 0)
		rc = attach_ring(f, c, fd, e);
	if (rc < 0)
		return rc;
	*vec_push(&f->files) = (struct perf_file){
		.fd = steal_fd(&fd), .stream = stream, .cpu = c->id, .is_of_cpu = tid < 0
	};
	return 0;
}

static int add_file(struct perf_files *f, uint32_t stream, pid_t tid, struct perf_cpu *c,
		    struct err *e)
{
	bool was_shallow = c->is_shallow;
	int rc = open_file(f, stream, tid, c, e);

	/* Once more, for it had asked perf for a small part of the stack. */
	if (rc < 0 && c->is_shallow && !was_shallow)
		rc = open_file(f, stream, tid, c, e);
	return rc;
}

static bool is_grid_stream(const struct perf_files *f, uint32_t stream)
{
	return f->streams.at[stream].spec->role == PERF_STREAM_GRID;
}

static int open_streams(struct perf_files *f, pid_t tid, bool is_grid, struct err *e)
{
	size_t n_open = 0;
	struct err why = { 0 };

	vec_each(c, &f->cpus) {
		for (uint32_t i = 0; i < f->streams.n; i++) {
			if (f->streams.at[i].spec->role == PERF_STREAM_DEEP)
				continue; /* once per CPU, not per thread */
			if (is_grid != is_grid_stream(f, i) || (is_grid && c->fd < 0))
				continue;

			int rc = add_file(f, i, tid, c, &why);

			if (rc < 0 && why.os != ENODEV) {
				if (e)
					*e = why;
				return rc;
			}
			n_open += rc == 0;
		}
	}
	if (n_open)
		return 0;
	return err_set(e, ERR_UNSUPPORTED, "no CPU could be observed: %.400s", why.text);
}

int perf_files_open(struct perf_files *f, pid_t tid, struct err *e)
{
	return open_streams(f, tid, false, e);
}

/* All or none: half a grid would see half of the time. */
int perf_files_open_grid(struct perf_files *f, struct err *e)
{
	size_t n = f->files.n;
	int rc = open_streams(f, -1, true, e);

	while (rc < 0 && f->files.n > n)
		closep(&f->files.at[--f->files.n].fd);
	return rc;
}

/* A CPU that says that it is online may not be it yet: then it is tried again. */
static int reopen_deep(struct perf_files *f, struct perf_cpu *c, struct err *e)
{
	int rc = add_deep(f, c, c->fd, e);

	return c->is_shallow ? 0 : rc;
}

static int reopen_streams(struct perf_files *f, struct perf_cpu *c, bool is_machine,
			  struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; i < f->streams.n && rc == 0; i++) {
		enum perf_stream_role role = f->streams.at[i].spec->role;

		if (role == PERF_STREAM_DEEP)
			continue; /* comes with the ring */
		if (role == PERF_STREAM_GRID ? c->fd >= 0 : is_machine)
			rc = add_file(f, i, -1, c, e);
	}
	return rc;
}

/* Or a second try would open some twice. */
static void close_from(struct perf_files *f, size_t n, struct perf_cpu *c, bool had_ring)
{
	if (!had_ring && c->fd >= 0) {
		perf_merge_remove(&f->merge, &c->ring);
		perf_ring_unmap(&c->ring);
		c->fd = -1;
	}
	while (f->files.n > n)
		closep(&f->files.at[--f->files.n].fd);
}

static uint64_t count_of(const struct perf_file *x)
{
	uint64_t v;

	return read(x->fd, &v, sizeof(v)) == sizeof(v) ? v : 0;
}

/* Of the first n, what ended with the CPU: what it had counted stays, and what it had
 * written, as the ring is mapped.  Others keep their places. */
static void close_ended(struct perf_files *f, size_t n, uint32_t cpu)
{
	for (size_t i = 0; i < n; i++) {
		struct perf_file *x = &f->files.at[i];

		if (x->fd < 0 || !x->is_of_cpu || x->cpu != cpu)
			continue;
		f->streams.at[x->stream].counted_closed += count_of(x);
		closep(&x->fd);
		x->fd = -1;
	}
}

static int reopen(struct perf_files *f, struct perf_cpu *c, bool is_machine,
		  struct err *e)
{
	size_t n = f->files.n;
	bool had_ring = c->fd >= 0;
	int rc = had_ring ? reopen_deep(f, c, e) : 0;

	if (rc == 0)
		rc = reopen_streams(f, c, is_machine, e);
	if (rc < 0) {
		close_from(f, n, c, had_ring);
		return rc;
	}
	if (is_machine && f->files.n > n) {
		/* the one that had the ring ended with the CPU */
		c->fd = f->files.at[n].fd;
		c->is_hung_up = false;
	}
	if (f->files.n > n)
		close_ended(f, n, c->id);
	return 0;
}

int perf_files_reopen(struct perf_files *f, uint32_t cpu, bool is_machine, struct err *e)
{
	vec_each(c, &f->cpus)
		if (c->id == cpu)
			return reopen(f, c, is_machine, e);
	return 0;
}

size_t perf_files_n_shallow(const struct perf_files *f)
{
	size_t n = 0;

	vec_each(c, &f->cpus)
		n += c->is_shallow;
	return n;
}

struct perf_stream *perf_files_stream(struct perf_files *f, uint64_t id)
{
	const uint64_t *i = map_find(&f->ids, id);

	return i ? &f->streams.at[*i] : NULL;
}

void perf_files_enable(struct perf_files *f, bool is_enabled)
{
	vec_each(x, &f->files)
		if (f->streams.at[x->stream].spec->role != PERF_STREAM_SIDEBAND)
			ioctl(x->fd,
			      is_enabled ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
			      0);
}

void perf_files_disable_all(struct perf_files *f)
{
	vec_each(x, &f->files)
		ioctl(x->fd, PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t perf_files_count(const struct perf_files *f, uint32_t stream)
{
	uint64_t sum = f->streams.at[stream].counted_closed;

	vec_each(x, &f->files)
		if (x->stream == stream)
			sum += count_of(x);
	return sum;
}

size_t perf_files_poll(const struct perf_files *f, struct pollfd *fds, size_t max)
{
	size_t n = 0;

	for (size_t i = 0; i < f->cpus.n && n < max; i++) {
		const struct perf_cpu *c = &f->cpus.at[i];

		if (c->fd >= 0 && !c->is_hung_up)
			fds[n++] = (struct pollfd){ .fd = c->fd, .events = POLLIN };
	}
	return n;
}

void perf_files_check_hang_ups(struct perf_files *f)
{
	vec_each(c, &f->cpus) {
		struct pollfd p = { .fd = c->fd, .events = POLLIN };

		if (c->fd >= 0 && !c->is_hung_up && poll(&p, 1, 0) > 0)
			c->is_hung_up = (p.revents & POLLHUP) != 0;
	}
}

bool perf_files_is_pressed(struct perf_files *f)
{
	vec_each(c, &f->cpus) {
		if (!c->ring.page)
			continue;
		perf_ring_refresh(&c->ring);
		if (perf_ring_used(&c->ring) > c->ring.size / 2)
			return true;
	}
	return false;
}
