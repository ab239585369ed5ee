/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_roots.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "host/proc_maps.h"
#include "host/proc_wait.h"
#include "host/procfs.h"

#define MAPS_BYTES_MAX (UINT64_C(256) << 20)

/* glibc's areas for threads: each begins at a multiple of their largest size with the
 * arena that it is of, the area before, its size, and how much of that may be written. */
#define ARENA_BYTES (UINT64_C(64) << 20)
#define ARENA_HEAD  4

/* What is being put together. */
struct search {
	const struct heap_roots_of *of;
	const uint64_t *stack_pointers;
	size_t n_stack_pointers;
	heap_roots_read_fn *read;
	void *ctx;
	struct heap_ranges wanted, except;
	uint64_t data_end;  /* of the last mapping, if that is data of a file */
	uint64_t guard_end; /* if nobody may write there */
};

/* Does a block lie in it?  Then whoever mapped it is an allocator. */
static bool has_block(const struct search *s, uint64_t start, uint64_t end)
{
	const struct heap_finder *f = s->of->finder;
	size_t i = heap_finder_above(f, start);

	return i < f->blocks.n && f->blocks.at[i].address < end;
}

static void sort_out_own_mappings(struct search *s)
{
	vec_each(x, &s->of->maps->ranges)
		if (has_block(s, x->address, heap_finder_end_of(x)))
			heap_ranges_add(&s->except, x->address, heap_finder_end_of(x));
}

/* What of the allocator's memory the program has taken from the kernel itself. */
static void add_own_of(struct search *s, const struct proc_map *map)
{
	vec_each(x, &s->of->maps->ranges) {
		uint64_t end = heap_finder_end_of(x);

		heap_ranges_add(&s->wanted,
				x->address > map->start ? x->address : map->start,
				end < map->end ? end : map->end);
	}
}

static bool is_arena(const struct search *s, uint64_t at)
{
	uint64_t head[ARENA_HEAD];

	if (!s->read(s->ctx, at, head, sizeof(head)))
		return false;
	/* The arena itself is behind the head of its first area. */
	return head[0] % ARENA_BYTES >= sizeof(head) &&
	       head[0] % ARENA_BYTES <= sizeof(head) + 64 && head[1] % ARENA_BYTES == 0 &&
	       head[2] && head[2] <= ARENA_BYTES && head[2] % 4096 == 0 &&
	       head[3] >= head[2] && head[3] <= ARENA_BYTES;
}

static void sort_out_arenas(struct search *s, const struct proc_map *map)
{
	uint64_t at = (map->start + ARENA_BYTES - 1) & ~(ARENA_BYTES - 1);

	for (; s->of->is_glibc && at < map->end; at += ARENA_BYTES)
		if (is_arena(s, at))
			heap_ranges_add(&s->except, at, at + ARENA_BYTES);
}

static bool is_own(const struct search *s, uint64_t address)
{
	vec_each(x, &s->of->maps->ranges)
		if (address >= x->address && address < heap_finder_end_of(x))
			return true;
	return false;
}

/* Below the lowest end of a stack in it nothing is used.  That is certain only where the
 * stack begins with the mapping: a handler's may be anywhere, and one that has no guard
 * in a mapping of its own may be one with what was mapped next to it. */
static uint64_t stack_end(const struct search *s, const struct proc_map *map)
{
	uint64_t lowest = map->end;

	if (map->start != s->guard_end && strcmp(map->path, "[stack]") != 0)
		return map->start;
	for (size_t i = 0; i < s->n_stack_pointers; i++) {
		uint64_t sp = s->stack_pointers[i] & ~UINT64_C(7);

		if (sp >= map->start && sp < lowest && !is_own(s, sp))
			lowest = sp;
	}
	return lowest < map->end ? lowest : map->start;
}

static bool is_anonymous(const struct proc_map *map)
{
	return !map->path[0] && !map->inode;
}

static void take(struct search *s, const struct proc_map *map)
{
	bool is_file = !is_anonymous(map) && map->path[0] != '[';
	bool is_bss = is_anonymous(map) && map->start == s->data_end;

	s->data_end = is_file && map->is_writable && !map->is_shared ? map->end : 0;
	if (!map->is_writable) {
		s->guard_end = is_anonymous(map) ? map->end : 0;
		return;
	}
	if (strcmp(map->path, "[heap]") == 0 && s->of->is_glibc) {
		add_own_of(s, map);
		return;
	}
	if (!is_file && !is_bss)
		sort_out_arenas(s, map);
	heap_ranges_add(&s->wanted, is_file || is_bss ? map->start : stack_end(s, map),
			map->end);
}

void heap_roots_of_text(const struct heap_roots_of *of, const char *text, size_t size,
			const uint64_t *stack_pointers, size_t n_stack_pointers,
			heap_roots_read_fn *read, void *ctx, struct heap_ranges *ret)
{
	struct search s = { .of = of,
			    .stack_pointers = stack_pointers,
			    .n_stack_pointers = n_stack_pointers,
			    .read = read,
			    .ctx = ctx };
	own(freep) struct proc_map *map = xcalloc(1, sizeof(*map));
	const char *end = text + size;

	vec_each(x, &of->ours->all)
		heap_ranges_add(&s.except, x->start, x->end);
	sort_out_own_mappings(&s);
	while (proc_maps_next(&text, end, map))
		take(&s, map);
	heap_ranges_subtract(&s.wanted, &s.except, ret);
	heap_ranges_fini(&s.wanted);
	heap_ranges_fini(&s.except);
}

/* Of whoever runs it is not known where its stack ends. */
struct stack_pointers {
	VEC(uint64_t) all;
};

static void find_stacks(const struct heap_roots_of *of, struct stack_pointers *ret)
{
	struct procfs_ids tids = { 0 };

	*vec_push(&ret->all) = of->stack_pointer;
	if (procfs_tasks(of->pid, &tids, NULL) < 0)
		return;
	vec_each(tid, &tids.ids) {
		struct proc_wait wait;

		if ((uint32_t)*tid != of->tid &&
		    proc_wait_read(of->pid, *tid, &wait, NULL) == 0)
			*vec_push(&ret->all) = wait.sp;
	}
	procfs_ids_fini(&tids);
}

int heap_roots_find(const struct heap_roots_of *of, heap_roots_read_fn *read, void *ctx,
		    struct heap_ranges *ret, struct err *e)
{
	own(buf_fini) struct buf text = { 0 };
	struct stack_pointers stacks = { 0 };
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)of->pid);
	rc = procfs_read(path, MAPS_BYTES_MAX, &text, e);
	if (rc < 0)
		return rc;
	find_stacks(of, &stacks);
	heap_roots_of_text(of, buf_str(&text), text.size, stacks.all.at, stacks.all.n,
			   read, ctx, ret);
	vec_fini(&stacks.all);
	return 0;
}
