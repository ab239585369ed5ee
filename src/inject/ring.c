/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/ring.h"

#include <string.h>

#include "bare/sys.h"

/* "DIRECTORY/ring.PID.TIME"; TIME tells the images of one pid apart. */
static void make_path(char *path, const char *directory, uint32_t pid, uint64_t time_ns)
{
	static const char hex[] = "0123456789abcdef";
	size_t n = strlen(directory);

	memcpy(path, directory, n);
	path[n++] = '/';
	memcpy(path + n, WIRE_SAMPLER_RING_PREFIX, sizeof(WIRE_SAMPLER_RING_PREFIX) - 1);
	n += sizeof(WIRE_SAMPLER_RING_PREFIX) - 1;
	for (int shift = 28; shift >= 0; shift -= 4)
		path[n++] = hex[pid >> shift & 15];
	path[n++] = '.';
	for (int shift = 60; shift >= 0; shift -= 4)
		path[n++] = hex[time_ns >> shift & 15];
	path[n] = 0;
}

/* Beyond RLIMIT_FSIZE the kernel would not only refuse but send SIGXFSZ. */
static int allocate(int fd, uint64_t size)
{
	struct rlimit old = { 0 }, more;

	if (sys_rlimit(RLIMIT_FSIZE, NULL, &old) < 0 || old.rlim_max < size)
		return -1;
	if (old.rlim_cur >= size)
		return sys_fallocate(fd, size);
	more = (struct rlimit){ size, old.rlim_max };
	sys_rlimit(RLIMIT_FSIZE, &more, NULL);

	int rc = sys_fallocate(fd, size);

	sys_rlimit(RLIMIT_FSIZE, &old, NULL);
	return rc;
}

static void *map_file(const char *path, uint64_t size)
{
	int fd = sys_open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	void *p = NULL;

	if (fd < 0)
		return NULL;
	if (allocate(fd, size) >= 0)
		p = sys_map(size, MAP_SHARED, fd);
	sys_close(fd);
	if (!p)
		sys_unlink(path);
	return p;
}

void ring_over(struct ring *r, void *memory, uint64_t bytes)
{
	r->header = memory;
	r->data = (uint8_t *)memory + WIRE_SAMPLER_RECORDS_AT;
	r->bytes = bytes;
	r->start_ns = r->header->start_ns;
}

static void begin(struct ring *r, void *memory, uint64_t bytes, int pid, uint64_t now)
{
	ring_over(r, memory, bytes);
	r->header->version = WIRE_SAMPLER_VERSION;
	r->header->ring_bytes = bytes;
	r->header->pid = (uint32_t)pid;
	r->header->ppid = (uint32_t)sys_getppid();
	r->header->start_ns = r->start_ns = now;
}

bool ring_create(struct ring *r, const char *directory, uint64_t bytes, int pid)
{
	char path[WIRE_SAMPLER_DIRECTORY_MAX + 40];
	uint64_t now = sys_clock_ns(CLOCK_MONOTONIC);

	make_path(path, directory, (uint32_t)pid, now);

	void *p = map_file(path, WIRE_SAMPLER_RECORDS_AT + bytes);

	if (!p)
		return false;
	begin(r, p, bytes, pid, now);
	return true;
}

/* Every process begins to search elsewhere, so that they seldom meet. */
static bool take_free(struct wire_sampler_control *control, uint32_t n_mapped,
		      uint32_t pid, uint32_t *ret)
{
	uint32_t n = control->n_rings;

	if (n > WIRE_SAMPLER_N_RINGS_MAX)
		return false;
	if (n > n_mapped)
		n = n_mapped;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = (pid + i) % n;
		uint32_t was = 0;

		if (__atomic_compare_exchange_n(&control->claims[at], &was, pid, false,
						__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			*ret = at;
			return true;
		}
	}
	return false;
}

bool ring_claim(struct ring *r, struct wire_sampler_control *control, int control_fd,
		int pid)
{
	uint64_t bytes = control->ring_bytes;
	uint32_t i;
	void *p;

	if (!take_free(control, WIRE_SAMPLER_N_RINGS_MAX, (uint32_t)pid, &i))
		return false;
	p = sys_map_at(WIRE_SAMPLER_RECORDS_AT + bytes, MAP_SHARED, control_fd,
		       wire_sampler_ring_at(i, bytes));
	if (!p) {
		__atomic_store_n(&control->claims[i], 0, __ATOMIC_RELEASE);
		return false;
	}
	begin(r, p, bytes, pid, sys_clock_ns(CLOCK_MONOTONIC));
	return true;
}

bool ring_claim_mapped(struct ring *r, struct wire_sampler_control *control, void *rings,
		       uint32_t n, int pid)
{
	uint64_t bytes = control->ring_bytes;
	uint32_t i;

	if (!take_free(control, n, (uint32_t)pid, &i))
		return false;
	begin(r,
	      (uint8_t *)rings + wire_sampler_ring_at(i, bytes) -
		      WIRE_SAMPLER_CONTROL_BYTES,
	      bytes, pid, sys_clock_ns(CLOCK_MONOTONIC));
	return true;
}

void ring_unmap(struct ring *r)
{
	if (r->header)
		sys_unmap(r->header, WIRE_SAMPLER_RECORDS_AT + r->bytes);
	*r = (struct ring){ 0 };
}

/* UINT64_MAX: no room.  The tail is the recorder's: whatever it holds, what is
 * reserved stays inside the ring. */
static uint64_t reserve(struct ring *r, uint64_t size)
{
	uint64_t at = __atomic_load_n(&r->header->head, __ATOMIC_RELAXED);

	do {
		uint64_t tail = __atomic_load_n(&r->header->tail, __ATOMIC_ACQUIRE);

		if (at + size - tail > r->bytes)
			return UINT64_MAX;
	} while (!__atomic_compare_exchange_n(&r->header->head, &at, at + size, true,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return at;
}

static uint64_t copy_in(struct ring *r, uint64_t at, const void *from, size_t size)
{
	uint64_t off = at & (r->bytes - 1);
	size_t first = size < r->bytes - off ? size : (size_t)(r->bytes - off);

	if (!size) /* then from may be NULL */
		return at;
	memcpy(r->data + off, from, first);
	memcpy(r->data, (const char *)from + first, size - first);
	return at + size;
}

bool ring_write(struct ring *r, enum wire_sampler_kind kind, const void *head,
		size_t head_size, const void *tail, size_t tail_size)
{
	uint32_t size = (uint32_t)(head_size + tail_size);

	if (!ring_is_ours(r) || size > WIRE_SAMPLER_PAYLOAD_MAX)
		return false;

	uint64_t at = reserve(r, wire_sampler_record_bytes(size));

	if (at == UINT64_MAX)
		return false;
	copy_in(r, copy_in(r, at + 8, head, head_size), tail, tail_size);
	__atomic_store_n((uint64_t *)(r->data + (at & (r->bytes - 1))),
			 wire_sampler_commit(at, size, kind), __ATOMIC_RELEASE);
	return true;
}
