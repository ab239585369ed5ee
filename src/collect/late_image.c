/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/late_image.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "collect/address_space.h"
#include "collect/roster.h"
#include "collect/stack_builder.h"

struct late_image {
	struct tracker *tracker;
	struct roster_process process; /* in no roster */
	struct map threads;	       /* tid → struct roster_thread */
};

struct late_image *late_image_new(struct tracker *t, uint64_t time_ns, uint32_t pid,
				  bool is_fork, const struct late_image *parent)
{
	struct late_image *m = xcalloc(1, sizeof(*m));
	struct tracker_process p = tracker_process_told(t, time_ns, pid);
	struct address_space *inherited = parent ? parent->process.space : p.space;

	m->tracker = t;
	m->process.pid = pid;
	m->process.id = p.id;
	m->process.is_followed = p.is_followed;
	m->process.code_image = MODEL_NONE;
	m->process.space =
		is_fork && inherited ? address_space_ref(inherited) : address_space_new();
	return m;
}

void late_image_end(struct late_image *m)
{
	if (m)
		tracker_find_jit_map(m->tracker, &m->process);
}

void late_image_free(struct late_image *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->threads.cap; i++) {
		struct roster_thread *th =
			(struct roster_thread *)(uintptr_t)m->threads.at[i].value;

		if (!m->threads.at[i].used)
			continue;
		stack_path_fini(&th->path);
		free(th);
	}
	map_fini(&m->threads);
	address_space_unref(m->process.space);
	free(m);
}

uint32_t late_image_process(const struct late_image *m)
{
	return m->process.id;
}

bool late_image_is_followed(const struct late_image *m)
{
	return m->process.is_followed;
}

bool late_image_is_current(const struct late_image *m)
{
	return tracker_process_id(m->tracker, m->process.pid) == m->process.id;
}

static uint32_t thread_id(struct late_image *m, uint64_t time_ns, uint32_t tid)
{
	if (late_image_is_current(m))
		return tracker_thread(m->tracker, time_ns, m->process.pid, tid);
	return tracker_past_thread(m->tracker, time_ns, m->process.id, tid);
}

static struct roster_thread *thread_of(struct late_image *m, uint64_t time_ns,
				       uint32_t tid)
{
	bool is_new;
	uint64_t *slot = map_slot(&m->threads, tid, &is_new);
	struct roster_thread *th = (struct roster_thread *)(uintptr_t)*slot;

	if (!is_new)
		return th;
	th = xcalloc(1, sizeof(*th));
	*slot = (uintptr_t)th;
	th->tid = tid;
	th->process = &m->process;
	th->id = thread_id(m, time_ns, tid);
	return th;
}

uint32_t late_image_thread(struct late_image *m, uint64_t time_ns, uint32_t tid)
{
	return thread_of(m, time_ns, tid)->id;
}

void late_image_mmap(struct late_image *m, uint64_t time_ns,
		     const struct tracker_mmap *map)
{
	struct unwind_map mine;

	if (!map->is_exec || map->start >= map->end)
		return;
	mine = tracker_late_mmap(m->tracker, time_ns, m->process.pid, m->process.id, map);
	m->process.space = address_space_writable(m->process.space);
	address_space_add(m->process.space, &mine);
}

uint32_t late_image_image(const struct late_image *m, uint64_t pc)
{
	const struct unwind_map *map = address_space_find(m->process.space, pc);

	return map ? tracker_image_id(m->tracker, map) : MODEL_NONE;
}

uint32_t late_image_stack(struct late_image *m, const struct tracker_sample *s)
{
	return tracker_stack_of(m->tracker, thread_of(m, s->time_ns, s->tid), s);
}
