/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_copies.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "collect/inject_place.h"
#include "host/procfs.h"

void inject_copies_fini(struct inject_copies *c)
{
	vec_fini(&c->of);
}

bool inject_copies_is_of(const struct wire_injected *by, const struct wire_injected *head)
{
	return head->magic == WIRE_INJECTED_MAGIC && head->owner_pid == by->owner_pid &&
	       head->owner_start == by->owner_start;
}

static int open_memory(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static void look_at(pid_t pid, const struct wire_injected *by, struct inject_copies *ret)
{
	own(closep) int fd = open_memory(pid);

	for (unsigned i = 0; i < INJECT_PLACE_N && fd >= 0; i++) {
		uint64_t at = INJECT_PLACE_FIRST + i * INJECT_PLACE_STRIDE;
		struct wire_injected head;

		if (pread(fd, &head, sizeof(head), (off_t)at) == sizeof(head) &&
		    head.is_patched && inject_copies_is_of(by, &head))
			*vec_push(&ret->of) =
				(struct inject_copy){ pid, head.first_pid, at };
	}
}

int inject_copies_find(const struct wire_injected *by, struct inject_copies *ret,
		       struct err *e)
{
	own(procfs_ids_fini) struct procfs_ids all = { 0 };
	int rc = procfs_processes(&all, e);

	vec_clear(&ret->of);
	if (rc == 0)
		vec_each(pid, &all.ids)
			look_at(*pid, by, ret);
	return rc;
}

static bool read_by(void *ctx, uint64_t at, void *to, size_t bytes)
{
	const int *fd = ctx;

	return pread(*fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

bool inject_copies_is_led(pid_t pid)
{
	own(closep) int fd = open_memory(pid);
	const struct inject_memory m = { read_by, &fd };

	return fd >= 0 && inject_place_is_led(&m, getpid());
}
