/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_rings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "collect/system_inner.h"

/* Of one CPU, as the kernel lays it out: a page that is ours to write, one that is the
 * kernel's, and the records, twice behind each other. */
struct ring {
	uint64_t *released;	/* by us, up to here */
	const uint64_t *filled; /* by the kernel */
	const uint8_t *records;
	size_t bytes;
	uint64_t fetched, mark;
	struct system_rings_place place;
};

struct system_rings {
	struct system_sink sink;
	VEC(struct ring) all; /* in the order of the CPUs */
	int epoll;
};

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Setting up. */

static void unmap_ring(struct ring *r)
{
	if (r->released)
		munmap(r->released, page_bytes());
	if (r->filled)
		munmap((void *)r->filled, page_bytes() + 2 * r->bytes);
}

static int map_ring(struct ring *r, int fd, size_t bytes, struct err *e)
{
	void *ours = mmap(NULL, page_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	void *theirs = mmap(NULL, page_bytes() + 2 * bytes, PROT_READ, MAP_SHARED, fd,
			    (off_t)page_bytes());

	r->bytes = bytes;
	r->released = ours == MAP_FAILED ? NULL : ours;
	r->filled = theirs == MAP_FAILED ? NULL : theirs;
	if (!r->released || !r->filled)
		return err_os(e, "cannot map a BPF ring");
	r->records = (const uint8_t *)r->filled + page_bytes();
	r->fetched = r->mark = r->place.start = *r->released;
	return 0;
}

/* Who waits is woken once for what came, and not again for what stays. */
static int watch_ring(const struct system_rings *r, int fd, struct err *e)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	if (epoll_ctl(r->epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		return err_os(e, "cannot wait for a BPF ring");
	return 0;
}

/* The descriptors of all CPUs' rings. */
static int make_rings(int map_fd, const struct cpus *cpus, size_t bytes, int *fds,
		      struct err *e)
{
	for (size_t i = 0; i < cpus->ids.n; i++) {
		fds[i] = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "ring", 0, 0,
					(uint32_t)bytes, NULL);
		if (fds[i] < 0)
			return err_os(e, "cannot create a BPF ring");
	}
	return system_inner_put(map_fd, cpus->ids.at, fds, (uint32_t)cpus->ids.n, e);
}

/* That of one that is there. */
static int find_ring(int map_fd, uint32_t cpu, size_t bytes, struct err *e)
{
	struct bpf_map_info info = { 0 };
	uint32_t id, info_size = sizeof(info);
	own(closep) int fd = -1;

	if (bpf_map_lookup_elem(map_fd, &cpu, &id) < 0)
		return err_os(e, "cannot find a BPF ring");
	fd = bpf_map_get_fd_by_id(id);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &info_size) < 0)
		return err_os(e, "cannot find a BPF ring");
	if (info.type != BPF_MAP_TYPE_RINGBUF || info.max_entries != bytes)
		return err_set(e, ERR_FORMAT, "a BPF ring is of another size");
	return steal_fd(&fd);
}

/* The same of those that are there. */
static int find_rings(int map_fd, const struct cpus *cpus, size_t bytes, int *fds,
		      struct err *e)
{
	for (size_t i = 0; i < cpus->ids.n; i++) {
		fds[i] = find_ring(map_fd, cpus->ids.at[i], bytes, e);
		if (fds[i] < 0)
			return fds[i];
	}
	return 0;
}

typedef int rings_source(int map_fd, const struct cpus *cpus, size_t bytes, int *fds,
			 struct err *e);

static int add_ring(struct system_rings *r, int fd, size_t bytes, struct err *e)
{
	int rc = map_ring(vec_push(&r->all), fd, bytes, e);

	return rc < 0 ? rc : watch_ring(r, fd, e);
}

static int add_rings(int map_fd, const struct cpus *cpus, size_t bytes,
		     rings_source *source, const struct system_sink *sink,
		     struct system_rings **ret, struct err *e)
{
	own(system_rings_freep) struct system_rings *r = xcalloc(1, sizeof(*r));
	own(freep) int *fds = xcalloc(cpus->ids.n + 1, sizeof(*fds));
	int rc;

	r->sink = *sink;
	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (r->epoll < 0)
		return err_os(e, "cannot wait for BPF rings");
	for (size_t i = 0; i < cpus->ids.n; i++)
		fds[i] = -1;
	rc = source(map_fd, cpus, bytes, fds, e);
	for (size_t i = 0; i < cpus->ids.n; i++) {
		if (rc == 0)
			rc = add_ring(r, fds[i], bytes, e);
		closep(&fds[i]);
	}
	if (rc < 0)
		return rc;
	*ret = steal(&r);
	return 0;
}

int system_rings_new(int map_fd, const struct cpus *cpus, size_t bytes,
		     const struct system_sink *sink, struct system_rings **ret,
		     struct err *e)
{
	return add_rings(map_fd, cpus, bytes, make_rings, sink, ret, e);
}

void system_rings_tell(struct system_rings *r, const struct system_sink *sink)
{
	r->sink = *sink;
}

int system_rings_take(int map_fd, const struct cpus *cpus, size_t bytes,
		      const struct system_sink *sink, struct system_rings **ret,
		      struct err *e)
{
	return add_rings(map_fd, cpus, bytes, find_rings, sink, ret, e);
}

void system_rings_free(struct system_rings *r)
{
	if (!r)
		return;
	vec_each(ring, &r->all)
		unmap_ring(ring);
	vec_fini(&r->all);
	closep(&r->epoll);
	free(r);
}

void system_rings_freep(struct system_rings **r)
{
	system_rings_free(*r);
}

/* Fetching. */

static void take_image(const struct system_sink *sink, const struct stack_record_image *r,
		       size_t size)
{
	if (size >= offsetof(struct stack_record_image, path) &&
	    size >= offsetof(struct stack_record_image, path) + r->path_bytes)
		sink->image(sink->ctx, r);
}

static void take_stack(const struct system_sink *sink, const struct stack_record *r,
		       size_t size)
{
	if (size >= offsetof(struct stack_record, frames) &&
	    size >= offsetof(struct stack_record, frames) +
			    8 * ((size_t)r->n_kernel + r->n_user))
		sink->stack(sink->ctx, r);
}

static void take_file(const struct system_sink *sink, const struct io_record_file *r,
		      size_t size)
{
	if (size >= offsetof(struct io_record_file, file.path) &&
	    size >= offsetof(struct io_record_file, file.path) + r->file.path_bytes &&
	    sink->file)
		sink->file(sink->ctx, r);
}

/* The kernel's side made it: sizes are as they were written. */
static void take(const struct system_sink *sink, const struct ring *ring,
		 const void *record, size_t size)
{
	const struct stack_record_count *c = record;
	bool is_done;

	if (size < sizeof(uint64_t))
		return;
	is_done = ring->fetched < ring->place.done[c->table & 1];
	if (c->kind == STACK_RECORD_COUNT && size >= sizeof(*c) && !is_done)
		sink->count(sink->ctx, c->table & 1, c->key, c->count);
	else if (c->kind == STACK_RECORD_STACK && !is_done)
		take_stack(sink, record, size);
	else if (c->kind == STACK_RECORD_IMAGE)
		take_image(sink, record, size);
	else if (c->kind == STACK_RECORD_PAIR &&
		 size >= sizeof(struct stack_record_pair) && sink->pair)
		sink->pair(sink->ctx, record);
	else if (c->kind == STACK_RECORD_AGAIN &&
		 size >= sizeof(struct stack_record_again) && sink->again)
		sink->again(sink->ctx, record);
	else if (c->kind == STACK_RECORD_EACH &&
		 size >= sizeof(struct stack_record_each) && sink->each)
		sink->each(sink->ctx, record);
	else if (c->kind == STACK_RECORD_FILE)
		take_file(sink, record, size);
}

static void fetch_ring(const struct system_sink *sink, struct ring *ring)
{
	uint64_t filled = __atomic_load_n(ring->filled, __ATOMIC_ACQUIRE);

	while (ring->fetched < filled) {
		const uint8_t *at = ring->records + (ring->fetched & (ring->bytes - 1));
		uint32_t head = __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
		uint32_t size = head & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (head & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(head & BPF_RINGBUF_DISCARD_BIT))
			take(sink, ring, at + BPF_RINGBUF_HDR_SZ, size);
		ring->fetched += (BPF_RINGBUF_HDR_SZ + (uint64_t)size + 7) & ~UINT64_C(7);
	}
}

int system_rings_fd(const struct system_rings *r)
{
	return r->epoll;
}

void system_rings_fetch(struct system_rings *r)
{
	struct epoll_event events[64];
	int n;

	/* What comes from here on wakes again. */
	do
		n = epoll_wait(r->epoll, events, sizeof(events) / sizeof(events[0]), 0);
	while (n == sizeof(events) / sizeof(events[0]));
	vec_each(ring, &r->all)
		fetch_ring(&r->sink, ring);
}

void system_rings_consume(struct system_rings *r)
{
	system_rings_fetch(r);
	system_rings_pass(r);
	system_rings_release(r);
}

void system_rings_pass(struct system_rings *r)
{
	vec_each(ring, &r->all)
		ring->place.start = ring->fetched;
}

/* What is needed. */

void system_rings_mark(struct system_rings *r)
{
	vec_each(ring, &r->all)
		ring->mark = __atomic_load_n(ring->filled, __ATOMIC_ACQUIRE);
}

void system_rings_done(struct system_rings *r, unsigned table)
{
	vec_each(ring, &r->all) {
		ring->place.start = ring->mark;
		ring->place.done[table & 1] = ring->fetched;
	}
}

void system_rings_release(struct system_rings *r)
{
	vec_each(ring, &r->all)
		__atomic_store_n(ring->released, ring->place.start, __ATOMIC_RELEASE);
}

bool system_rings_are_filling(const struct system_rings *r)
{
	vec_each(ring, &r->all)
		if (__atomic_load_n(ring->filled, __ATOMIC_RELAXED) - *ring->released >
		    ring->bytes / 2)
			return true;
	return false;
}

void system_rings_places(const struct system_rings *r, struct system_rings_place *ret)
{
	for (size_t i = 0; i < r->all.n; i++)
		ret[i] = r->all.at[i].place;
}

void system_rings_resume(struct system_rings *r, const struct system_rings_place *places)
{
	for (size_t i = 0; i < r->all.n; i++) {
		struct ring *ring = &r->all.at[i];

		ring->place = places[i];
		ring->fetched = ring->mark = ring->place.start;
	}
	system_rings_release(r);
}

/* Of what libbpf says, and the kernel counts. */

static int be_quiet(unused enum libbpf_print_level level, unused const char *format,
		    unused va_list args)
{
	return 0;
}

void system_rings_silence_libbpf(void)
{
	libbpf_set_print(be_quiet);
}

void system_rings_sum_stats(const struct stack_record_stats *stats, uint32_t n_cpus,
			    struct stack_record_stats *ret)
{
	*ret = (struct stack_record_stats){ 0 };
	for (uint32_t c = 0; c < n_cpus; c++) {
		const uint64_t *from = (const uint64_t *)&stats[c];
		uint64_t *to = (uint64_t *)ret;

		for (size_t i = 0; i < sizeof(*ret) / sizeof(*to); i++)
			to[i] += from[i];
	}
}
