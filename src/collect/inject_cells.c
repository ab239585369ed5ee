/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_cells.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/own.h"
#include "base/reader.h"
#include "host/note.h"
#include "host/proc_maps.h"

#define PHDRS_MAX 256
#define NOTES_MAX 65536
/* As include/dwell.h has it: how far behind itself the cell is. */
#define NOTE_NAME "dwell"
#define NOTE_CELL 1

void inject_cells_fini(struct inject_cells *c)
{
	vec_fini(&c->at);
}

/* at: where the process has them. */
static void read_notes(struct inject_cells *c, const uint8_t *notes, size_t bytes,
		       uint64_t at)
{
	struct reader r = reader_over(notes, bytes);
	struct note n;

	while (note_next(&r, &n)) {
		uint64_t cell = at + (uint64_t)(n.desc - notes);
		int32_t distance;

		if (!note_is(&n, NOTE_NAME, NOTE_CELL) || n.desc_size != sizeof(distance))
			continue;
		memcpy(&distance, n.desc, sizeof(distance));
		cell += (uint64_t)(int64_t)distance;
		if (cell % sizeof(cell) == 0)
			*vec_push(&c->at) = cell;
	}
}

static void read_segment(struct inject_cells *c, const struct inject_memory *m,
			 const Elf64_Phdr *p, uint64_t bias)
{
	own(freep) uint8_t *notes = NULL;

	if (p->p_type != PT_NOTE || p->p_align > 4 || p->p_memsz > NOTES_MAX)
		return;
	notes = xcalloc(1, p->p_memsz + 1);
	if (inject_memory_read(m, bias + p->p_vaddr, notes, p->p_memsz))
		read_notes(c, notes, p->p_memsz, bias + p->p_vaddr);
}

static void read_object(struct inject_cells *c, const struct inject_memory *m,
			uint64_t headers, uint64_t bias)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;

	if (!inject_memory_read(m, headers, &h, sizeof(h)) ||
	    memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_phentsize != sizeof(p))
		return;
	for (unsigned i = 0; i < h.e_phnum && i < PHDRS_MAX; i++)
		if (inject_memory_read(m, headers + h.e_phoff + i * sizeof(p), &p,
				       sizeof(p)))
			read_segment(c, m, &p, bias);
}

static bool is_same_file(const struct proc_map *a, const struct proc_map *b)
{
	return a->inode && a->inode == b->inode && a->dev_major == b->dev_major &&
	       a->dev_minor == b->dev_minor;
}

/* An object's headers begin its file, of which that is mapped before its dynamic section.
 */
void inject_cells_find(struct inject_cells *c, const struct inject_memory *m,
		       const struct inject_objects *objects, const char *maps,
		       size_t maps_bytes)
{
	own(freep) struct proc_map *map = xcalloc(1, sizeof(*map));
	own(freep) struct proc_map *first = xcalloc(1, sizeof(*first));
	const char *end = maps + maps_bytes;

	vec_clear(&c->at);
	while (proc_maps_next(&maps, end, map)) {
		if (!map->file_offset)
			*first = *map;
		if (!is_same_file(first, map))
			continue;
		vec_each(o, &objects->at)
			if (o->dynamic >= map->start && o->dynamic < map->end)
				read_object(c, m, first->start, o->bias);
	}
}

size_t inject_cells_lead(const struct inject_cells *c, const struct inject_memory *m,
			 uint64_t hooks, uint64_t lo, uint64_t hi, inject_write_fn *write,
			 void *ctx)
{
	size_t n = 0;

	vec_each(at, &c->at) {
		uint64_t is;

		if (!inject_memory_read(m, *at, &is, sizeof(is)) || is == hooks ||
		    (is && is - lo >= hi - lo))
			continue;
		n += !write || write(ctx, *at, hooks);
	}
	return n;
}
