/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/slot.h"

#include <errno.h>

#include "bare/spin.h"
#include "bare/sys.h"
#include "inject/arch.h"

static struct {
	struct spin lock;
	uint32_t n;
	struct slot *free;
	struct slot *at[SLOT_MAX];
} table;

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) & ~(to - 1);
}

#define HANDLER_STACK_BYTES (32 << 10)

static struct slot *map_slot(void)
{
	size_t cache_at = round_up(sizeof(struct slot), 64);
	size_t size = round_up(cache_at + unwind_local_cache_bytes(), 4096) +
		      HANDLER_STACK_BYTES;
	struct slot *s;

	if (table.n == SLOT_MAX)
		return NULL;
	s = sys_map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!s)
		return NULL;
	s->cache = (void *)((char *)s + cache_at);
	s->handler_stack = (char *)s + size;
	s->index = table.n;
	table.at[table.n] = s;
	__atomic_store_n(&table.n, table.n + 1, __ATOMIC_RELEASE);
	return s;
}

static struct slot *take(void)
{
	struct slot *s = table.free;

	if (s)
		table.free = s->next_free;
	else
		s = map_slot();
	if (!s)
		return NULL;
	s->tid = 0;
	s->has_previous = false;
	s->stack_lo = s->stack_hi = 0;
	s->is_used = true;
	return s;
}

struct slot *slot_new(void)
{
	spin_lock(&table.lock);

	struct slot *s = take();

	spin_unlock(&table.lock);
	return s;
}

struct slot *slot_try_new(void)
{
	struct slot *s;

	if (!spin_try(&table.lock))
		return NULL;
	s = take();
	spin_unlock(&table.lock);
	return s;
}

static void give_back(struct slot *s)
{
	s->tid = 0;
	s->is_used = false;
	s->next_free = table.free;
	table.free = s;
}

void slot_free(struct slot *s)
{
	spin_lock(&table.lock);
	give_back(s);
	spin_unlock(&table.lock);
}

struct slot *slot_at(uint32_t index)
{
	return index < __atomic_load_n(&table.n, __ATOMIC_ACQUIRE) ? table.at[index]
								   : NULL;
}

struct slot *slot_of_tid(int tid)
{
	uint32_t n = __atomic_load_n(&table.n, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++)
		if (table.at[i]->is_used && table.at[i]->tid == tid)
			return table.at[i];
	return NULL;
}

struct slot *slot_mine(void)
{
	uint32_t n = __atomic_load_n(&table.n, __ATOMIC_ACQUIRE);
	uintptr_t tp = arch_thread_pointer();

	for (uint32_t i = 0; i < n; i++)
		if (table.at[i]->is_used && table.at[i]->thread_pointer == tp)
			return table.at[i];
	return NULL;
}

static bool is_gone(const struct slot *s, int pid)
{
	return s->is_used && s->tid &&
	       sys_call(SYS_tgkill, pid, s->tid, 0, 0, 0, 0) == -ESRCH;
}

void slot_reap(void (*leave)(struct slot *s))
{
	int pid = sys_getpid();

	if (!spin_try(&table.lock))
		return;
	for (uint32_t i = 0; i < table.n; i++) {
		if (!is_gone(table.at[i], pid))
			continue;
		leave(table.at[i]);
		give_back(table.at[i]);
	}
	spin_unlock(&table.lock);
}

void slot_after_fork(struct slot *keep)
{
	spin_unlock(&table.lock);
	table.free = NULL;
	for (uint32_t i = 0; i < table.n; i++) {
		table.at[i]->is_armed = false; /* timers are not inherited */
		if (table.at[i] != keep)
			give_back(table.at[i]);
	}
	if (keep)
		keep->has_previous = false;
}
