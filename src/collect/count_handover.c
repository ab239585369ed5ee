/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_handover.h"

#include <stdbool.h>
#include <string.h>

#include "base/own.h"
#include "base/vec.h"
#include "host/proc_maps.h"

struct maker {
	const struct count_handover *h;
	uint64_t at;	 /* where all of it is going to be */
	struct buf text; /* what comes behind the tables */
	VEC(struct count_control_range) ranges;
};

static void maker_fini(struct maker *m)
{
	buf_fini(&m->text);
	vec_fini(&m->ranges);
}

/* Offset among the texts, which are moved later. */
static uint64_t add_text(struct maker *m, const char *s)
{
	uint64_t off = m->text.size;

	buf_add(&m->text, s, strlen(s) + 1);
	return off;
}

#define NO_PATH UINT64_MAX

/* What the kernel calls by names in brackets are no files; the vDSO is known by its. */
static uint64_t add_path(struct maker *m, const struct proc_map *map)
{
	bool is_file = map->path[0] == '/' || !strcmp(map->path, "[vdso]");

	return is_file ? add_text(m, map->path) : NO_PATH;
}

static bool is_engines(const struct count_handover *h, const struct proc_map *map)
{
	return map->start - h->engine < h->engine_bytes ||
	       !strncmp(map->path, h->prefix, strlen(h->prefix));
}

static void add_ranges(struct maker *m, bool of_program)
{
	const char *at = m->h->maps, *end = at + m->h->maps_bytes;
	struct proc_map map;

	while (proc_maps_next(&at, end, &map)) {
		bool is_program = !strcmp(map.path, m->h->exe);

		/* vsyscall: code in the kernel's half, which nobody can read. */
		if ((!map.is_exec && !map.is_shared) || is_program != of_program ||
		    !strcmp(map.path, "[vsyscall]") || is_engines(m->h, &map))
			continue;
		*vec_push(&m->ranges) = (struct count_control_range){
			.start = map.start,
			.end = map.end,
			.off = map.file_offset,
			.inode = map.inode,
			.device_major = map.dev_major,
			.device_minor = map.dev_minor,
			.path = add_path(m, &map),
			.is_exec = map.is_exec,
			.is_writable = map.is_writable,
			.is_shared = map.is_shared,
		};
	}
}

static void align(struct buf *b, size_t to)
{
	while (b->size % to)
		buf_u8(b, 0);
}

void count_handover_make(const struct count_handover *h, uint64_t at, struct buf *ret)
{
	own(maker_fini) struct maker m = { .h = h, .at = at };
	size_t threads_bytes = h->n_threads * sizeof(*h->threads), texts;
	struct count_control k = { .magic = COUNT_CONTROL_MAGIC,
				   .owner = h->owner,
				   .bytes = h->room,
				   .n_threads = h->n_threads,
				   .prefix = add_text(&m, h->prefix),
				   .flags = add_text(&m, h->flags),
				   .name = add_text(&m, h->name) };

	add_ranges(&m, true);
	add_ranges(&m, false);
	k.n_ranges = m.ranges.n;
	k.threads = at + sizeof(k);
	k.ranges = k.threads + threads_bytes;
	texts = k.ranges + m.ranges.n * sizeof(*m.ranges.at);
	k.prefix += texts;
	k.flags += texts;
	k.name += texts;
	vec_each(r, &m.ranges)
		r->path = r->path == NO_PATH ? 0 : r->path + texts;
	buf_add(ret, &k, sizeof(k));
	buf_add(ret, h->threads, threads_bytes);
	if (m.ranges.n)
		buf_add(ret, m.ranges.at, m.ranges.n * sizeof(*m.ranges.at));
	buf_add(ret, m.text.data, m.text.size);
	align(ret, 4096);
}
