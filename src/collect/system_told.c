/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_told.h"

#include <bpf/bpf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* With what the kernel adds, one is as large as what it allocates. */
#define PART_BYTES 4000
#define PARTS_MAX  16384

struct key {
	uint32_t table, part;
};

struct part {
	uint8_t bytes[PART_BYTES];
};

struct told {
	uint64_t n_bytes; /* that are there */
	uint32_t n_parts; /* in the map, some of which may be of before it was cleared */
};

struct system_told {
	int fd;
	struct told tables[2];
};

static uint32_t parts_of(uint64_t n_bytes)
{
	return (uint32_t)((n_bytes + PART_BYTES - 1) / PART_BYTES);
}

int system_told_make(struct err *e)
{
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_NO_PREALLOC);
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, "told", sizeof(struct key),
				sizeof(struct part), PARTS_MAX, &o);

	return fd < 0 ? err_os(e, "cannot create a BPF map") : fd;
}

struct system_told *system_told_new(int fd, const uint64_t n_bytes[2])
{
	struct system_told *t = xcalloc(1, sizeof(*t));

	t->fd = fd;
	for (unsigned i = 0; i < 2; i++)
		t->tables[i] = (struct told){ n_bytes[i], parts_of(n_bytes[i]) };
	return t;
}

void system_told_free(struct system_told *t)
{
	free(t);
}

void system_told_freep(struct system_told **t)
{
	system_told_free(*t);
}

static bool put_part(const struct system_told *t, unsigned table, uint32_t i,
		     const uint8_t *data, size_t size)
{
	struct key key = { .table = table, .part = i };
	struct part part = { 0 };
	size_t left = size - (size_t)i * PART_BYTES;

	memcpy(part.bytes, data + (size_t)i * PART_BYTES,
	       left < PART_BYTES ? left : PART_BYTES);
	return bpf_map_update_elem(t->fd, &key, &part, BPF_ANY) == 0;
}

uint64_t system_told_put(struct system_told *t, unsigned table, const void *data,
			 size_t size)
{
	struct told *x = &t->tables[table];

	if (size < x->n_bytes)
		x->n_bytes = 0;
	while (x->n_bytes < size) {
		uint32_t i = (uint32_t)(x->n_bytes / PART_BYTES);
		uint64_t end = (uint64_t)(i + 1) * PART_BYTES;

		if (!put_part(t, table, i, data, size))
			break;
		if (x->n_parts <= i)
			x->n_parts = i + 1;
		x->n_bytes = end < size ? end : size;
	}
	return x->n_bytes;
}

void system_told_trim(struct system_told *t)
{
	for (unsigned table = 0; table < 2; table++) {
		struct told *x = &t->tables[table];

		while (x->n_parts > parts_of(x->n_bytes)) {
			struct key key = { .table = table, .part = --x->n_parts };

			bpf_map_delete_elem(t->fd, &key);
		}
	}
}

void system_told_read(const struct system_told *t, unsigned table, struct buf *ret)
{
	const struct told *x = &t->tables[table];
	struct key key = { .table = table };
	struct part part;

	buf_clear(ret);
	while (ret->size < x->n_bytes && bpf_map_lookup_elem(t->fd, &key, &part) == 0) {
		uint64_t left = x->n_bytes - ret->size;

		buf_add(ret, part.bytes, left < PART_BYTES ? left : PART_BYTES);
		key.part++;
	}
}
