/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/thread_names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "host/procfs.h"

/* Most threads are named when they begin. */
#define PAUSE_NS     UINT64_C(50000000)
#define PAUSE_NS_MAX UINT64_C(1000000000)
/* To ask of one takes a hundredth of that. */
#define PAUSE_NS_EACH UINT64_C(1000000)

void thread_names_fini(struct thread_names *n)
{
	map_fini(&n->given);
}

/* False: it is called by somebody else. */
static bool give(uint64_t *given, struct writer *w, const char *text)
{
	uint32_t thread = (uint32_t)(*given >> 32), name = writer_string(w, text);
	struct model_thread model = *writer_thread_get(w, thread);

	if (model.name != (uint32_t)*given && model.name != name)
		return false;
	*given = (uint64_t)thread << 32 | name;
	if (model.name == name)
		return true;
	model.name = name;
	writer_thread_update(w, thread, &model);
	return true;
}

/* All of them, which takes a while: not with each that is new. */
static uint64_t due_ns(const struct thread_names *n)
{
	return n->asked_ns + n->pause_ns + n->given.n * PAUSE_NS_EACH;
}

/* A thread is called as its process until somebody knows better. */
void thread_names_tell(struct thread_names *n, struct writer *w, uint32_t thread,
		       uint32_t tid, const char *name)
{
	const struct model_thread *model = writer_thread_get(w, thread);
	bool is_new;
	uint64_t *given = map_slot(&n->given, tid, &is_new);

	if (is_new || *given >> 32 != thread)
		*given = (uint64_t)thread << 32 |
			 writer_process_get(w, model->process)->comm;
	if (!give(given, w, name))
		map_remove(&n->given, tid);
	n->pause_ns = PAUSE_NS;
	n->ask_ns = n->asked_ns ? due_ns(n) : 0;
}

static bool read_name(uint32_t pid, uint32_t tid, char *ret, size_t cap)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	if (procfs_read_text(path, ret, cap, NULL) < 0)
		return false;
	ret[strcspn(ret, "\n")] = 0;
	return ret[0];
}

void thread_names_ask(struct thread_names *n, struct writer *w, uint32_t pid)
{
	struct map still = { 0 };

	for (size_t i = 0; i < n->given.cap; i++) {
		struct map_entry *x = &n->given.at[i];
		char name[32];

		if (x->used && read_name(pid, (uint32_t)x->key, name, sizeof(name)) &&
		    give(&x->value, w, name))
			*map_slot(&still, x->key, NULL) = x->value;
	}
	map_fini(&n->given);
	n->given = still;
}

void thread_names_ask_due(struct thread_names *n, struct writer *w, uint32_t pid,
			  uint64_t now_ns)
{
	if (!n->given.n || now_ns < n->ask_ns)
		return;
	thread_names_ask(n, w, pid);
	n->asked_ns = now_ns;
	n->ask_ns = due_ns(n);
	if (n->pause_ns < PAUSE_NS_MAX)
		n->pause_ns *= 2;
}
