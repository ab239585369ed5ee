/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_notes.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/image_note.h"
#include "wire/stack_rows.h"

/* A note is cut into parts; most have one.  With what the kernel adds, one is as large as
 * what it allocates. */
#define PART_BYTES 440
#define NOTES_MAX  (2 * STACK_ROWS_IMAGES_MAX)
#define PARTS_MAX  ((IMAGE_NOTE_MAX + PART_BYTES - 1) / PART_BYTES)
#define TRIES_MAX  NOTES_MAX

struct key {
	uint32_t image, part;
};

struct part {
	uint32_t n_bytes; /* of the whole note */
	uint8_t bytes[PART_BYTES];
};

struct system_notes {
	int fd;
	struct buf note;
};

int system_notes_new(int fd, struct system_notes **ret, struct err *e)
{
	own(system_notes_freep) struct system_notes *n = xcalloc(1, sizeof(*n));
	LIBBPF_OPTS(bpf_map_create_opts, o, .map_flags = BPF_F_NO_PREALLOC);

	n->fd = fd >= 0 ? fd
			: bpf_map_create(BPF_MAP_TYPE_HASH, "notes", sizeof(struct key),
					 sizeof(struct part), NOTES_MAX, &o);
	if (n->fd < 0)
		return err_os(e, "cannot create a BPF map");
	*ret = steal(&n);
	return 0;
}

void system_notes_free(struct system_notes *n)
{
	if (!n)
		return;
	closep(&n->fd);
	buf_fini(&n->note);
	free(n);
}

void system_notes_freep(struct system_notes **n)
{
	system_notes_free(*n);
}

int system_notes_fd(const struct system_notes *n)
{
	return n->fd;
}

void system_notes_put(struct system_notes *n, uint32_t image, const struct image_file *f)
{
	if (!image_note_encode(f, &n->note))
		return;
	/* The first part comes last: with it the note is there as a whole. */
	for (size_t i = (n->note.size + PART_BYTES - 1) / PART_BYTES; i-- > 0;) {
		struct key key = { .image = image, .part = (uint32_t)i };
		struct part part = { .n_bytes = (uint32_t)n->note.size };
		size_t left = n->note.size - i * PART_BYTES;

		memcpy(part.bytes, n->note.data + i * PART_BYTES,
		       left < PART_BYTES ? left : PART_BYTES);
		if (bpf_map_update_elem(n->fd, &key, &part, BPF_ANY) < 0)
			return;
	}
}

void system_notes_remove(struct system_notes *n, uint32_t image)
{
	struct key key = { .image = image };

	while (key.part < PARTS_MAX && bpf_map_delete_elem(n->fd, &key) == 0)
		key.part++;
}

/* The note whose first part has that key; false: there is none as a whole. */
static bool read_note(const struct system_notes *n, struct key key, struct buf *ret)
{
	struct part part;

	buf_clear(ret);
	do {
		size_t left;

		if (key.part >= PARTS_MAX ||
		    bpf_map_lookup_elem(n->fd, &key, &part) < 0 ||
		    part.n_bytes <= ret->size)
			return false;
		left = part.n_bytes - ret->size;
		buf_add(ret, part.bytes, left < PART_BYTES ? left : PART_BYTES);
		key.part++;
	} while (ret->size < part.n_bytes);
	return true;
}

void system_notes_each(const struct system_notes *n,
		       void (*found)(void *ctx, uint32_t image, struct image_file *f),
		       void *ctx)
{
	own(buf_fini) struct buf note = { 0 };
	struct key key, *last = NULL;
	struct image_file f;

	for (size_t i = 0; i < TRIES_MAX && bpf_map_get_next_key(n->fd, last, &key) == 0;
	     i++) {
		if (!key.part && read_note(n, key, &note) &&
		    image_note_decode(note.data, note.size, &f, NULL) == 0)
			found(ctx, key.image, &f);
		last = &key;
	}
}
