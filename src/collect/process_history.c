/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/process_history.h"

/* So late the kernel's records of an exec may come. */
#define UNTOLD_NS UINT64_C(1000000000)

void process_history_fini(struct process_history *h)
{
	map_fini(&h->newest);
	vec_fini(&h->all);
}

struct process_history_entry *
process_history_add(struct process_history *h, uint32_t pid,
		    const struct process_history_entry *entry)
{
	uint64_t *newest = map_slot(&h->newest, pid, NULL);
	struct process_history_entry *e = vec_push(&h->all);

	*e = *entry;
	e->before = (uint32_t)*newest;
	*newest = h->all.n;
	return e;
}

static struct process_history_entry *at(const struct process_history *h, uint64_t place)
{
	return place ? &h->all.at[place - 1] : NULL;
}

static struct process_history_entry *newest_of(const struct process_history *h,
					       uint32_t pid)
{
	const uint64_t *newest = map_find(&h->newest, pid);

	return newest ? at(h, *newest) : NULL;
}

static bool is_meant(const struct process_history_entry *e,
		     enum process_history_origin origin, uint32_t name)
{
	if (e->origin == PROCESS_HISTORY_FOUND)
		return true;
	return e->origin == origin && (origin == PROCESS_HISTORY_FORK || e->name == name);
}

/* A source inside a program tells of it a moment after the kernel does: the last one that
 * began before, and where that is not known yet the first behind. */
struct process_history_entry *process_history_claim(struct process_history *h,
						    uint32_t pid, unsigned teller,
						    enum process_history_origin origin,
						    uint32_t name, uint64_t time_ns)
{
	struct process_history_entry *found = NULL;

	for (struct process_history_entry *e = newest_of(h, pid);
	     e && !(e->tellers >> teller & 1); e = at(h, e->before)) {
		if (!is_meant(e, origin, name))
			continue;
		found = e;
		if (e->start_ns <= time_ns)
			break;
	}
	if (found)
		found->tellers |= UINT32_C(1) << teller;
	return found;
}

/* By another name it may be what an exec made of it that nobody has told of yet, but not
 * for long. */
struct process_history_entry *process_history_then(const struct process_history *h,
						   uint32_t pid, uint32_t name,
						   uint64_t time_ns)
{
	struct process_history_entry *behind = NULL;

	for (struct process_history_entry *e = newest_of(h, pid); e;
	     e = at(h, e->before)) {
		bool is_found = e->origin == PROCESS_HISTORY_FOUND;

		if (!is_found && e->start_ns > time_ns) {
			if (e->name == name && e->start_ns - time_ns <= UNTOLD_NS)
				behind = e;
			continue;
		}
		if (is_found || e->name == name)
			return e;
		return behind || time_ns - e->start_ns < UNTOLD_NS ? behind : e;
	}
	return behind;
}

struct process_history_entry *process_history_told(const struct process_history *h,
						   uint32_t pid, unsigned teller)
{
	struct process_history_entry *e = newest_of(h, pid);

	while (e && !(e->tellers >> teller & 1))
		e = at(h, e->before);
	return e;
}
