/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/adopt.h"

#include <string.h>

#include "inject/runtime.h"
#include "bare/spin.h"

#define TASKS "/proc/self/task/"

/* As the kernel writes them. */
struct entry {
	uint64_t inode, off;
	uint16_t size;
	uint8_t type;
	char name[];
} __attribute__((packed));

/* Too large for the stack of a handler; one thread at a time. */
static struct {
	struct spin lock;
	char names[4096], status[4096];
} scratch;

static int parse_tid(const char *s)
{
	int tid = 0;

	for (; *s >= '0' && *s <= '9' && tid < 100000000; s++)
		tid = tid * 10 + (*s - '0');
	return *s ? 0 : tid;
}

static size_t read_status(const char *name)
{
	char path[sizeof(TASKS) + 32] = TASKS;
	size_t at = sizeof(TASKS) - 1, n = strlen(name);
	int fd;
	long size;

	memcpy(path + at, name, n + 1);
	memcpy(path + at + n, "/status", sizeof("/status"));
	fd = sys_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	size = sys_read(fd, scratch.status, sizeof(scratch.status) - 1);
	sys_close(fd);
	return size > 0 ? (size_t)size : 0;
}

static unsigned hex_digit(char c)
{
	return (unsigned)(c >= 'a' ? c - 'a' + 10 : c - '0') & 15;
}

/* Threads of the C library's own that block everything also wait for our signal's
 * number: one of ours must never be left pending there. */
static bool takes_signal(const char *name)
{
	static const char label[] = "\nSigBlk:\t";
	size_t size = read_status(name), n = sizeof(label) - 1;
	unsigned bit = (unsigned)runtime.signal - 1;

	for (size_t i = 0; i + n + 16 <= size; i++) {
		if (memcmp(scratch.status + i, label, n) != 0)
			continue;
		return !(hex_digit(scratch.status[i + n + 15 - bit / 4]) >> bit % 4 & 1);
	}
	return false;
}

static void adopt(const char *name)
{
	int tid = parse_tid(name);
	struct slot *s;

	if (!tid || slot_of_tid(tid) || !takes_signal(name))
		return;
	s = slot_try_new();
	if (!s)
		return;
	s->thread_pointer = 0;
	runtime_arm(s, tid, ACCOUNT_LATE);
	runtime_tell_thread(s, WIRE_SAMPLER_THREAD, 0);
}

static void scan(int fd)
{
	for (;;) {
		long n = sys_call(SYS_getdents64, fd, scratch.names,
				  sizeof(scratch.names), 0, 0, 0);

		if (n <= 0)
			return;
		for (long at = 0; at < n;) {
			const struct entry *d = (const void *)(scratch.names + at);

			adopt(d->name);
			at += d->size;
		}
	}
}

static void leave(struct slot *s)
{
	runtime_tell_thread(s, WIRE_SAMPLER_LEAVE, 0);
	runtime_disarm(s);
}

void adopt_threads(void)
{
	int fd;

	if (!spin_try(&scratch.lock))
		return;
	slot_reap(leave);
	fd = sys_open(TASKS, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd >= 0) {
		scan(fd);
		sys_close(fd);
	}
	spin_unlock(&scratch.lock);
}
