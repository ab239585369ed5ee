/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_hooks.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "base/own.h"
#include "collect/system_grace.h"

/* What is unpinned ends soon. */
#define LOOK_NS	  1000000
#define LOOKS_MAX 5000

static void name_pin(const struct system_hook *h, char ret[64])
{
	snprintf(ret, 64, SYSTEM_PINS_HOOK "_%s", h->name);
}

static struct bpf_link *take(const struct system_pins *pins, const struct system_hook *h)
{
	char path[256], name[64];

	name_pin(h, name);
	snprintf(path, sizeof(path), "%s/%s", system_pins_path(pins), name);
	return bpf_link__open(path);
}

bool system_hooks_take(const struct system_pins *pins, const struct system_hook *hooks,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		*hooks[i].link = take(pins, &hooks[i]);
		if (*hooks[i].link)
			continue;
		system_hooks_let_go(hooks, i);
		return false;
	}
	return true;
}

int system_hooks_attach(const struct system_hook *hooks, size_t n, struct err *e)
{
	for (size_t i = 0; i < n; i++) {
		if (!bpf_program__autoload(hooks[i].program))
			continue;
		*hooks[i].link = bpf_program__attach(hooks[i].program);
		if (!*hooks[i].link)
			return err_os(e, "cannot attach a BPF program");
	}
	return 0;
}

void system_hooks_let_go(const struct system_hook *hooks, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bpf_link__destroy(*hooks[i].link);
		*hooks[i].link = NULL;
	}
}

void system_hooks_leave_out(const struct system_hook *hooks, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bpf_program__set_autoload(hooks[i].program, false);
}

int system_hooks_keep(const struct system_pins *pins, const struct system_hook *hooks,
		      size_t n, struct err *e)
{
	char name[64];
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < n; i++) {
		name_pin(&hooks[i], name);
		if (*hooks[i].link)
			rc = system_pins_put(pins, bpf_link__fd(*hooks[i].link), name, e);
	}
	return rc;
}

static uint32_t id_of(const struct bpf_link *link)
{
	struct bpf_link_info info = { 0 };
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_link__fd(link), &info, &size) < 0)
		return 0;
	return info.id;
}

/* Files of the BPF file system let go of what they pinned when readers of it are done,
 * some time after they were removed.  Whether they have, only who may administrate is
 * told: who has given that away waits for the readers, and what comes then all the same
 * is nothing that is charged (system_threads_end()). */
static void wait_for_end(uint32_t id)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };

	for (unsigned i = 0; i < LOOKS_MAX; i++) {
		own(closep) int fd = bpf_link_get_fd_by_id(id);

		if (fd == -EPERM)
			system_grace_wait();
		if (fd < 0)
			return;
		nanosleep(&look, NULL);
	}
}

/* Returns what to wait for, or 0. */
static uint32_t end(const struct system_pins *pins, const struct system_hook *h)
{
	uint32_t id = pins && *h->link ? id_of(*h->link) : 0;
	char name[64];

	name_pin(h, name);
	if (pins)
		system_pins_remove(pins, name);
	bpf_link__destroy(*h->link);
	*h->link = NULL;
	return id;
}

void system_hooks_end(const struct system_pins *pins, const struct system_hook *hooks,
		      size_t n)
{
	uint32_t *ids = xcalloc(n, sizeof(*ids));

	for (size_t i = n; i-- > 0;)
		ids[i] = end(pins, &hooks[i]);
	for (size_t i = 0; i < n; i++)
		if (ids[i])
			wait_for_end(ids[i]);
	free(ids);
}
