/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_copies.h"

#include <fcntl.h>
#include <unistd.h>

#include "collect/inject_memory.h"
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

static void look_at(pid_t pid, const struct wire_injected *by, struct inject_copies *ret)
{
	own(closep) int fd = -1;
	struct inject_memory m;

	if (inject_memory_open(pid, O_RDONLY, &fd, &m, NULL) < 0)
		return;
	for (unsigned i = 0; i < INJECT_PLACE_N; i++) {
		uint64_t at = INJECT_PLACE_FIRST + i * INJECT_PLACE_STRIDE;
		struct wire_injected head;

		if (inject_memory_read(&m, at, &head, sizeof(head)) && head.is_patched &&
		    inject_copies_is_of(by, &head))
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

bool inject_copies_is_led(pid_t pid)
{
	own(closep) int fd = -1;
	struct inject_memory m;

	return inject_memory_open(pid, O_RDONLY, &fd, &m, NULL) == 0 &&
	       inject_place_is_led(&m, getpid());
}
