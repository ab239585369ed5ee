/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_classes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "collect/system_images.h"
#include "host/cgroup_names.h"

struct class_key {
	uint64_t cgroup;
	char comm[16], thread_comm[16];
	uint32_t exe, pid, tid, zero;
};

struct system_classes {
	struct system_images *images;
	struct writer *writer;
	/* Of the recording. */
	struct intern *keys; /* struct class_key; id - 1 is the place in ids */
	VEC(uint32_t) ids;
	struct map exes; /* hash of a class without it → image */
	/* For good. */
	struct cgroup_names *cgroups;
};

struct system_classes *system_classes_new(struct system_images *images)
{
	struct system_classes *c = xcalloc(1, sizeof(*c));

	c->images = images;
	c->cgroups = cgroup_names_new();
	return c;
}

void system_classes_free(struct system_classes *c)
{
	if (!c)
		return;
	system_classes_end(c);
	cgroup_names_free(c->cgroups);
	free(c);
}

void system_classes_freep(struct system_classes **c)
{
	system_classes_free(*c);
}

void system_classes_begin(struct system_classes *c, struct writer *w)
{
	system_classes_end(c);
	c->writer = w;
	c->keys = intern_new();
}

void system_classes_end(struct system_classes *c)
{
	intern_free(c->keys);
	vec_fini(&c->ids);
	map_fini(&c->exes);
	c->keys = NULL;
}

static uint32_t add_thread(struct system_classes *c, const struct stack_record *r,
			   const struct class_key *k)
{
	struct writer *w = c->writer;
	const char *exe = k->exe ? system_images_path(c->images, k->exe) : NULL;
	struct model_process process = {
		.pid = k->pid,
		.parent = MODEL_NONE,
		.exec_of = MODEL_NONE,
		.comm = writer_strn(w, k->comm, strnlen(k->comm, sizeof(k->comm))),
		.exe = writer_string(w, exe),
		.cgroup = writer_string(
			w, cgroup_names_find(c->cgroups, r->cgroup, (pid_t)r->pid)),
		.exit_status = -1,
	};
	struct model_thread thread = {
		.process = writer_process(w, &process),
		.tid = k->tid,
		.name = writer_strn(w, k->thread_comm,
				    strnlen(k->thread_comm, sizeof(k->thread_comm))),
	};

	return writer_thread(w, &thread);
}

/* Is some frame the address of code that no file explains? */
static bool has_address(const struct stack_record *r)
{
	for (uint32_t i = 0; i < r->n_user; i++)
		if (r->frames[r->n_kernel + i] >> STACK_RECORD_IMAGE_SHIFT >=
		    STACK_RECORD_ADDRESS)
			return true;
	return false;
}

static struct class_key class_of(const struct stack_record *r)
{
	struct class_key k = { .cgroup = r->cgroup, .exe = r->exe };

	memcpy(k.comm, r->comm, sizeof(k.comm));
	if (r->flags & STACK_RECORD_IS_THREAD) {
		memcpy(k.thread_comm, r->thread_comm, sizeof(k.thread_comm));
		k.tid = r->tid;
	}
	if (r->flags & STACK_RECORD_IS_PROCESS || has_address(r))
		k.pid = r->pid;
	return k;
}

/* Where the executable of those that are the same otherwise is remembered. */
static uint64_t *known_exe(struct system_classes *c, struct class_key k)
{
	k.exe = 0;
	return map_slot(&c->exes, hash_bytes(&k, sizeof(k)), NULL);
}

void system_classes_learn(struct system_classes *c, const struct stack_record *r)
{
	struct class_key k = class_of(r);

	if (k.exe && !(r->flags & STACK_RECORD_IS_EXEC))
		*known_exe(c, k) = k.exe;
}

uint32_t system_classes_id(struct system_classes *c, const struct stack_record *r)
{
	struct class_key k = class_of(r);
	uint32_t known = (uint32_t)*known_exe(c, k), id;

	/* A process that exits has no executable any more, and one that execs may have
	 * one that its name is not of: it is the one it had. */
	if (known && (!k.exe || r->flags & STACK_RECORD_IS_EXEC))
		k.exe = known;
	id = intern_add(c->keys, (const char *)&k, sizeof(k));
	if (id > c->ids.n)
		*vec_push(&c->ids) = add_thread(c, r, &k);
	return c->ids.at[id - 1];
}
