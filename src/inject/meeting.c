/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/meeting.h"

#include <string.h>
#include <sys/prctl.h>

#include "bare/sys.h"

static int open_control_file(const struct meeting *m)
{
	char path[WIRE_SAMPLER_DIRECTORY_MAX + sizeof("/" WIRE_SAMPLER_CONTROL)];
	size_t n = strlen(m->directory);

	memcpy(path, m->directory, n);
	memcpy(path + n, "/" WIRE_SAMPLER_CONTROL, sizeof("/" WIRE_SAMPLER_CONTROL));
	return sys_open(path, O_RDWR | O_CLOEXEC, 0);
}

int meeting_open(struct meeting *m, const char *directory)
{
	size_t n = strlen(directory);
	struct wire_sampler_control *c;
	int fd;

	if (n >= WIRE_SAMPLER_DIRECTORY_MAX)
		return -1;
	memcpy(m->directory, directory, n + 1);
	fd = open_control_file(m);
	if (fd < 0)
		return -1;
	m->control = c = sys_map(WIRE_SAMPLER_CONTROL_BYTES, MAP_SHARED, fd);
	if (c && c->magic == WIRE_SAMPLER_MAGIC && c->version == WIRE_SAMPLER_VERSION &&
	    c->interval_ns && !c->is_stopped)
		return fd;
	sys_close(fd);
	return -1;
}

/* As the kernel has it: whoever opened the file has the lock, not a process. */
#define OFD_GET_LOCK 36

bool meeting_is_deserted(const struct meeting *m)
{
	struct flock lock = { .l_type = F_WRLCK, .l_len = 1 };
	int fd = open_control_file(m);

	if (fd < 0) /* by a program that may not, or cannot any more: that says nothing */
		return false;
	if (sys_call(SYS_fcntl, fd, OFD_GET_LOCK, &lock, 0, 0, 0) < 0)
		lock.l_type = F_WRLCK;
	sys_close(fd);
	return lock.l_type == F_UNLCK;
}

void meeting_comm(char ret[16])
{
	memset(ret, 0, 16);
	sys_call(SYS_prctl, PR_GET_NAME, ret, 0, 0, 0, 0);
}

static void tell_start(struct ring *ring, const struct wire_sampler_start *start)
{
	static char path[1024]; /* a forked child runs the same program */
	static long n;
	struct wire_sampler_start r = *start;

	r.time_ns = ring->header->start_ns;
	r.ppid = ring->header->ppid;
	if (r.origin != WIRE_SAMPLER_FORK) { /* else both are its parent's */
		n = sys_readlink("/proc/self/exe", path, sizeof(path));
		meeting_comm(r.comm);
	}
	ring_write(ring, WIRE_SAMPLER_START, &r, sizeof(r), path, n > 0 ? (size_t)n : 0);
}

/* Addresses, not memory; but a program may be allowed no more than so many. */
#define RINGS_BYTES_MAX (UINT64_C(64) << 20)

/* Also those that the file does not have yet: nobody can claim them before it has. */
void meeting_map_rings(struct meeting *m)
{
	uint64_t first = wire_sampler_ring_at(0, m->control->ring_bytes);
	uint64_t each = wire_sampler_ring_at(1, m->control->ring_bytes) - first;
	uint64_t n = RINGS_BYTES_MAX / each;
	int fd = open_control_file(m);

	if (fd < 0)
		return;
	if (n > WIRE_SAMPLER_N_RINGS_MAX)
		n = WIRE_SAMPLER_N_RINGS_MAX;
	m->n_rings = (uint32_t)n;
	m->rings = sys_map_at(n * each, MAP_SHARED, fd, first);
	sys_close(fd);
}

static bool claim(const struct meeting *m, int control_fd, int pid, struct ring *ret)
{
	int fd = control_fd;
	bool is_claimed;

	if (m->rings && ring_claim_mapped(ret, m->control, m->rings, m->n_rings, pid))
		return true;
	if (fd < 0)
		fd = open_control_file(m);
	if (fd < 0)
		return false;
	is_claimed = ring_claim(ret, m->control, fd, pid);
	sys_close(fd);
	return is_claimed;
}

bool meeting_ring(const struct meeting *m, int control_fd,
		  const struct wire_sampler_start *start, struct ring *ret)
{
	if (!claim(m, control_fd, (int)start->pid, ret) &&
	    !ring_create(ret, m->directory, m->control->ring_bytes, (int)start->pid)) {
		ring_count(&m->control->n_refused, 1);
		return false;
	}
	tell_start(ret, start);
	__atomic_store_n(&ret->header->magic, WIRE_SAMPLER_MAGIC, __ATOMIC_RELEASE);
	return true;
}
