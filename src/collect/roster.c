/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/roster.h"

#include <string.h>

#include "base/mem.h"
#include "collect/address_space.h"

#define DEAD_MAX 512 /* exited threads kept for samples that come late */

static void free_thread(struct roster_thread *th)
{
	stack_path_fini(&th->path);
	free(th);
}

static void free_process(struct roster_process *p)
{
	for (struct roster_thread *th = p->threads, *next; th; th = next) {
		next = th->next;
		free_thread(th);
	}
	address_space_unref(p->space);
	free(p);
}

void roster_fini(struct roster *r)
{
	for (size_t i = 0; i < r->processes.cap; i++)
		if (r->processes.at[i].used)
			free_process(
				(struct roster_process *)(uintptr_t)r->processes.at[i]
					.value);
	map_fini(&r->ids);
	map_fini(&r->threads);
	map_fini(&r->processes);
	vec_fini(&r->dead);
}

struct roster_process *roster_find_process(const struct roster *r, uint32_t pid)
{
	const uint64_t *p = map_find(&r->processes, pid);

	return p ? (struct roster_process *)(uintptr_t)*p : NULL;
}

struct roster_thread *roster_find_thread(const struct roster *r, uint32_t tid)
{
	const uint64_t *p = map_find(&r->threads, tid);

	return p ? (struct roster_thread *)(uintptr_t)*p : NULL;
}

static void drop_thread(struct roster *r, struct roster_thread *th)
{
	struct roster_thread **link = &th->process->threads;

	while (*link != th)
		link = &(*link)->next;
	*link = th->next;
	th->process->n_alive -= !th->has_exited;
	map_remove(&r->threads, th->tid);
	free_thread(th);
}

static void drop_process(struct roster *r, struct roster_process *p)
{
	while (p->threads)
		drop_thread(r, p->threads);
	map_remove(&r->processes, p->pid);
	free_process(p);
}

struct roster_process *roster_add_process(struct roster *r, uint32_t pid,
					  struct address_space *space,
					  const struct model_process *model)
{
	struct roster_process *p = xcalloc(1, sizeof(*p)),
			      *old = roster_find_process(r, pid);

	if (old)
		drop_process(r, old);
	p->pid = pid;
	p->id = writer_process(r->writer, model);
	p->space = space;
	p->code_image = MODEL_NONE;
	*map_slot(&r->processes, pid, NULL) = (uintptr_t)p;
	return p;
}

static uint64_t *id_of(struct roster *r, uint32_t process, uint32_t tid, bool *is_new)
{
	return map_slot(&r->ids, (uint64_t)process << 32 | tid, is_new);
}

uint32_t roster_past_thread(struct roster *r, uint64_t time_ns, uint32_t process,
			    uint32_t tid)
{
	uint32_t name = writer_process_get(r->writer, process)->comm;
	bool is_new;
	uint64_t *id = id_of(r, process, tid, &is_new);

	if (is_new)
		*id = writer_thread(r->writer,
				    &(struct model_thread){ .process = process,
							    .tid = tid,
							    .name = name,
							    .start_ns = time_ns });
	return (uint32_t)*id;
}

struct roster_thread *roster_add_thread(struct roster *r, uint64_t time_ns,
					struct roster_process *p, uint32_t tid,
					uint32_t name)
{
	struct roster_thread *th = xcalloc(1, sizeof(*th)),
			     *old = roster_find_thread(r, tid);

	if (old)
		drop_thread(r, old);
	th->tid = tid;
	th->process = p;
	th->next = p->threads;
	p->threads = th;
	th->id = writer_thread(r->writer, &(struct model_thread){ .process = p->id,
								  .tid = tid,
								  .name = name,
								  .start_ns = time_ns });
	*id_of(r, p->id, tid, NULL) = th->id;
	p->n_alive++;
	*map_slot(&r->threads, tid, NULL) = (uintptr_t)th;
	return th;
}

/* Samples may still arrive that were taken before: keep the newest of the dead. */
void roster_bury(struct roster *r, struct roster_thread *th, uint64_t time_ns)
{
	th->has_exited = true;
	th->exit_ns = time_ns;
	th->process->n_alive--;
	*vec_push(&r->dead) = th->tid;
	if (r->dead.n < 2 * DEAD_MAX)
		return;
	for (size_t i = 0; i < DEAD_MAX; i++) {
		struct roster_thread *old = roster_find_thread(r, r->dead.at[i]);
		struct roster_process *p = old ? old->process : NULL;

		if (!old || !old->has_exited)
			continue; /* the id was used again */
		drop_thread(r, old);
		if (!p->threads)
			drop_process(r, p);
	}
	r->dead.n -= DEAD_MAX;
	memmove(r->dead.at, r->dead.at + DEAD_MAX, r->dead.n * sizeof(*r->dead.at));
}
