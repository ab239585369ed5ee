/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/probe_notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "host/note.h"
#include "sym/object.h"

#define NOTE_OWNER "stapsdt"
#define NOTE_TYPE  3

#define NEAREST_MAX  3	 /* letters */
#define NAME_MAX_LEN 256 /* of what spelling is compared with */

struct probe_notes {
	struct object *object; /* whose bytes they are; NULL: another's */
	VEC(struct probe_note) notes;
};

static int by_name(const struct probe_note *x, const struct probe_note *y)
{
	int by = strcmp(x->provider, y->provider);

	return by ? by : strcmp(x->name, y->name);
}

static int by_place(const void *a, const void *b)
{
	const struct probe_note *x = a, *y = b;
	int by = by_name(x, y);

	if (by)
		return by;
	return x->address < y->address ? -1 : x->address > y->address;
}

static uint64_t read_address(struct reader *r, bool is_64)
{
	return is_64 ? reader_u64le(r) : reader_u32le(r);
}

/* What stands behind the owner's name. */
static bool read_note(const struct note *n, bool is_64, uint64_t base,
		      struct probe_note *ret)
{
	struct reader r = reader_over(n->desc, n->desc_size);
	uint64_t address = read_address(&r, is_64), mark = read_address(&r, is_64);
	uint64_t moved = base ? base - mark : 0; /* as prelink does it */

	ret->semaphore = read_address(&r, is_64);
	ret->provider = reader_cstr(&r);
	ret->name = reader_cstr(&r);
	ret->arguments = reader_cstr(&r);
	if (r.bad || !*ret->provider || !*ret->name)
		return false;
	ret->address = address + moved;
	if (ret->semaphore)
		ret->semaphore += moved;
	if (!is_64) {
		ret->address &= UINT32_MAX;
		ret->semaphore &= UINT32_MAX;
	}
	return true;
}

static int read_notes(struct probe_notes *p, const void *bytes, size_t size, bool is_64,
		      uint64_t base, struct err *e)
{
	struct reader r = reader_over(bytes, size);
	struct note n;

	while (note_next(&r, &n)) {
		struct probe_note one = { 0 };

		if (!note_is(&n, NOTE_OWNER, NOTE_TYPE))
			continue;
		if (!read_note(&n, is_64, base, &one))
			return err_set(e, ERR_FORMAT,
				       "a probe's note is damaged, up to byte %zu",
				       reader_offset(&r));
		*vec_push(&p->notes) = one;
	}
	if (r.bad)
		return err_set(e, ERR_FORMAT, "notes of probes are damaged at byte %zu",
			       reader_offset(&r));
	return 0;
}

/* In order, and none twice. */
static void put_in_order(struct probe_notes *p)
{
	size_t n = 0;

	if (p->notes.n)
		qsort(p->notes.at, p->notes.n, sizeof(*p->notes.at), by_place);
	for (size_t i = 0; i < p->notes.n; i++)
		if (!i || by_place(&p->notes.at[i], &p->notes.at[n - 1]) != 0)
			p->notes.at[n++] = p->notes.at[i];
	p->notes.n = n;
}

int probe_notes_parse(const void *bytes, size_t size, bool is_64, uint64_t base,
		      struct probe_notes **ret, struct err *e)
{
	own(probe_notes_freep) struct probe_notes *p = xcalloc(1, sizeof(*p));
	int rc = read_notes(p, bytes, size, is_64, base, e);

	if (rc < 0)
		return rc;
	put_in_order(p);
	*ret = steal(&p);
	return 0;
}

/* A breakpoint in what is no code would only damage it. */
static bool is_code(const struct object *o, uint64_t offset)
{
	for (size_t i = 0; i < object_n_segments(o); i++) {
		const struct object_segment *s = object_segment(o, i);

		if (s->is_load && s->is_executable && offset >= s->offset &&
		    offset - s->offset < s->file_size)
			return true;
	}
	return false;
}

static void place(struct probe_notes *p)
{
	vec_each(n, &p->notes) {
		if (!object_to_offset(p->object, n->address, &n->offset) ||
		    !is_code(p->object, n->offset))
			n->offset = 0;
		if (n->semaphore &&
		    !object_to_offset(p->object, n->semaphore, &n->semaphore_offset))
			n->semaphore_offset = 0;
	}
}

static int read_object(struct probe_notes *p, struct err *e)
{
	const struct object_section *mark = object_find(p->object, ".stapsdt.base");
	struct object_bytes bytes = object_named(p->object, ".note.stapsdt");

	return read_notes(p, bytes.data, bytes.size, object_is_64(p->object),
			  mark ? mark->address : 0, e);
}

int probe_notes_open(const char *path, struct probe_notes **ret, struct err *e)
{
	own(probe_notes_freep) struct probe_notes *p = xcalloc(1, sizeof(*p));
	int rc = object_open(path, &p->object, e);

	if (rc < 0)
		return rc;
	rc = read_object(p, e);
	if (rc < 0)
		return err_in(e, rc, path);
	put_in_order(p);
	place(p);
	*ret = steal(&p);
	return 0;
}

void probe_notes_free(struct probe_notes *p)
{
	if (!p)
		return;
	object_free(p->object);
	vec_fini(&p->notes);
	free(p);
}

void probe_notes_freep(struct probe_notes **p)
{
	probe_notes_free(*p);
}

unsigned probe_notes_machine(const struct probe_notes *p)
{
	return object_machine(p->object);
}

size_t probe_notes_count(const struct probe_notes *p)
{
	return p->notes.n;
}

const struct probe_note *probe_notes_at(const struct probe_notes *p, size_t i)
{
	return &p->notes.at[i];
}

static bool is_called(const struct probe_note *n, const char *name)
{
	size_t len = strlen(n->provider);

	return strncmp(n->provider, name, len) == 0 && name[len] == ':' &&
	       strcmp(n->name, name + len + 1) == 0;
}

size_t probe_notes_find(const struct probe_notes *p, const char *name, size_t *ret_first)
{
	size_t n = 0;

	for (size_t i = 0; i < p->notes.n; i++) {
		if (!is_called(&p->notes.at[i], name))
			continue;
		if (!n++)
			*ret_first = i;
	}
	return n;
}

const struct probe_note *probe_notes_nearest(const struct probe_notes *p,
					     const char *name)
{
	own(buf_fini) struct buf full = { 0 };
	const struct probe_note *best = NULL;
	size_t least = NEAREST_MAX + 1;

	vec_each(n, &p->notes) {
		size_t d;

		buf_clear(&full);
		buf_printf(&full, "%s:%s", n->provider, n->name);
		if (full.size > NAME_MAX_LEN)
			continue;
		d = text_distance(name, buf_str(&full));
		if (d < least) {
			least = d;
			best = n;
		}
	}
	return best;
}
