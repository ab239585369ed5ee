/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/slot.h"

#include <errno.h>

#include "bare/spin.h"
#include "bare/sys.h"
#include "inject/arch.h"

#define HANDLER_STACK_BYTES (32 << 10)

/* Ends what is only read at the beginning of a page, in the section that linkers put last
 * there: so what is written begins there, too, and the small of it has room on one page
 * (tests/lint/one_page.py). */
__attribute__((section(".gcc_except_table.end"), aligned(4096),
	       used)) static const char page_end[1];

/* Most processes have one thread, and end before its first sample: what they touch of the
 * first slot is on a page that they touch anyhow, and nothing needs to be mapped. */
static struct {
	struct spin lock;
	uint32_t n;
	struct slot *free;
	struct slot first;
	_Alignas(64) uint8_t cache[UNWIND_LOCAL_CACHE_MAX];
	_Alignas(64) uint8_t stack[HANDLER_STACK_BYTES];
	struct slot *more[SLOT_MAX - 1];
} table;

/* One below table.n. */
static struct slot *at(uint32_t index)
{
	return index ? table.more[index - 1] : &table.first;
}

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) & ~(to - 1);
}

static struct slot *first_slot(void)
{
	table.first.cache = (void *)table.cache;
	table.first.handler_stack = table.stack + sizeof(table.stack);
	return &table.first;
}

static struct slot *map_slot(void)
{
	size_t cache_at = round_up(sizeof(struct slot), 64);
	size_t size = round_up(cache_at + unwind_local_cache_bytes(), 4096) +
		      HANDLER_STACK_BYTES;
	struct slot *s = sys_map(size, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	if (!s)
		return NULL;
	s->cache = (void *)((char *)s + cache_at);
	s->handler_stack = (char *)s + size;
	table.more[table.n - 1] = s;
	return s;
}

static struct slot *add_slot(void)
{
	struct slot *s;

	if (table.n == SLOT_MAX)
		return NULL;
	s = table.n ? map_slot() : first_slot();
	if (!s)
		return NULL;
	s->index = table.n;
	__atomic_store_n(&table.n, table.n + 1, __ATOMIC_RELEASE);
	return s;
}

static struct slot *take(void)
{
	struct slot *s = table.free;

	if (s)
		table.free = s->next_free;
	else
		s = add_slot();
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
	return index < __atomic_load_n(&table.n, __ATOMIC_ACQUIRE) ? at(index) : NULL;
}

struct slot *slot_of_tid(int tid)
{
	uint32_t n = __atomic_load_n(&table.n, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++)
		if (at(i)->is_used && at(i)->tid == tid)
			return at(i);
	return NULL;
}

struct slot *slot_mine(void)
{
	uint32_t n = __atomic_load_n(&table.n, __ATOMIC_ACQUIRE);
	uintptr_t tp = arch_thread_pointer();

	for (uint32_t i = 0; i < n; i++)
		if (at(i)->is_used && at(i)->thread_pointer == tp)
			return at(i);
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
		if (!is_gone(at(i), pid))
			continue;
		leave(at(i));
		give_back(at(i));
	}
	spin_unlock(&table.lock);
}

void slot_after_fork(struct slot *keep)
{
	spin_unlock(&table.lock);
	table.free = NULL;
	for (uint32_t i = 0; i < table.n; i++) {
		at(i)->is_armed = false; /* timers are not inherited */
		if (at(i) != keep)
			give_back(at(i));
	}
	if (keep)
		keep->has_previous = false;
}
