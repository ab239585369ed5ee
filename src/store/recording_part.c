/* SPDX-License-Identifier: Apache-2.0
 *
 * A part of a recording: the blocks of samples that may hold it, then those of the
 * stacks that these refer to, then those of the locations; and what is told of single
 * instructions.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/format.h"
#include "store/recording_data.h"

struct part {
	struct recording *r;
	const struct recording_part *wanted;
	bool *images;		  /* by id */
	uint32_t event;		  /* MODEL_NONE: any */
	bool *stacks, *locations; /* that are needed, by id */
};

static void part_fini(struct part *p)
{
	free(p->images);
	free(p->stacks);
	free(p->locations);
}

bool recording_part_has_image(const struct recording_part *part,
			      const struct recording *r, uint32_t image)
{
	const struct model_image *m = recording_image(r, image);
	const char *path = m ? recording_string(r, m->path) : "";
	const char *slash = strrchr(path, '/');

	return !part->image || strcmp(path, part->image) == 0 ||
	       (slash && strcmp(slash + 1, part->image) == 0);
}

/* The index tells of every block of samples what is in it, and how many rows each block
 * of a dictionary has. */
static bool is_indexed(const struct recording *r)
{
	bool has_samples = false;

	if (!r->list.is_closed)
		return false;
	for (size_t i = 0; i < r->list.blocks.n; i++) {
		const struct format_entry *b = &r->list.blocks.at[i];

		if (b->kind == FORMAT_TRACES ||
		    (b->kind == FORMAT_SAMPLES && !b->summary.event))
			return false;
		has_samples |= b->kind == FORMAT_SAMPLES;
	}
	return has_samples;
}

static bool is_late(unsigned kind)
{
	return kind == FORMAT_LOCATIONS || kind == FORMAT_STACKS ||
	       kind == FORMAT_SAMPLES;
}

static uint64_t count_rows(const struct recording *r, unsigned kind)
{
	uint64_t n = kind == FORMAT_STACKS; /* the empty one is in no block */

	for (size_t i = 0; i < r->list.blocks.n; i++)
		if (r->list.blocks.at[i].kind == kind)
			n += r->list.blocks.at[i].summary.n;
	return n;
}

static void choose(struct part *p)
{
	const struct recording *r = p->r;
	uint32_t n = recording_n_images(r);

	p->images = xcalloc((size_t)n + 1, sizeof(bool));
	for (uint32_t i = 0; i < n; i++)
		p->images[i] = recording_part_has_image(p->wanted, r, i);
	p->event = MODEL_NONE;
	for (uint32_t i = 0; p->wanted->event && i < recording_n_events(r); i++)
		if (strcmp(recording_string(r, recording_event(r, i)->name),
			   p->wanted->event) == 0)
			p->event = i;
}

static bool may_hold(const struct part *p, const struct format_entry *b)
{
	uint32_t n = recording_n_images(p->r);

	if (b->kind != FORMAT_SAMPLES ||
	    (p->wanted->event && b->summary.event - 1 != p->event))
		return false;
	if (!p->wanted->image || !b->summary.first_image)
		return true;
	for (uint32_t i = b->summary.first_image; i <= b->summary.last_image && i <= n;
	     i++)
		if (p->images[i - 1])
			return true;
	return false;
}

static int load_samples(struct part *p, struct err *e)
{
	own(sample_block_fini) struct sample_block b = { 0 };
	struct recording *r = p->r;
	int rc = 0;

	for (size_t i = 0; i < r->list.blocks.n && rc == 0; i++)
		if (may_hold(p, &r->list.blocks.at[i]))
			rc = recording_load_block(r, &r->list.blocks.at[i], e);
	for (size_t i = 0; i < r->samples.n && rc == 0; i++) {
		rc = recording_read_samples(r, i, SAMPLE_STACK, &b, e);
		for (size_t k = 0; k < b.n && rc == 0; k++)
			p->stacks[b.stack[k]] = true;
	}
	return rc;
}

/* What is told of instructions refers to locations alone, of which none is read yet:
 * all of these are needed to know which ones are wanted. */

static int need_direction(void *ctx, const struct model_direction *d,
			  unused struct err *e)
{
	struct part *p = ctx;

	p->locations[d->location] = true;
	if (d->to != MODEL_NONE)
		p->locations[d->to] = true;
	return 0;
}

static int need_access(void *ctx, const struct model_access *a, unused struct err *e)
{
	struct part *p = ctx;

	p->locations[a->location] = true;
	return 0;
}

static int load_instructions(struct part *p, struct err *e)
{
	struct recording *r = p->r;
	int rc = 0;

	for (size_t i = 0; i < r->list.blocks.n && rc == 0; i++)
		if (format_tells_of_instructions(r->list.blocks.at[i].kind))
			rc = recording_load_block(r, &r->list.blocks.at[i], e);
	if (rc == 0)
		rc = recording_each_direction(r, need_direction, p, e);
	return rc == 0 ? recording_each_access(r, need_access, p, e) : rc;
}

static bool has_any(const bool *needed, uint64_t first, uint64_t n, uint64_t limit)
{
	for (uint64_t i = first; i < first + n && i < limit; i++)
		if (needed[i])
			return true;
	return false;
}

static int place_block(struct recording *r, const struct format_entry *b, struct err *e)
{
	struct reader payload;
	const char *refused;
	int rc = block_source_payload(&r->source, b->offset, b->kind, &r->stored, &r->raw,
				      &payload, e);

	r->n_read_bytes += b->stored_size;
	if (rc < 0)
		return rc;
	refused = dictionary_place(&r->dictionary, b->kind, payload);
	return refused ? err_set(e, ERR_FORMAT, "damaged: %s of a block of %s", refused,
				 format_kind_name(b->kind))
		       : 0;
}

/* The blocks with needed ids. */
static int place(struct part *p, enum format_kind kind, const bool *needed, struct err *e)
{
	struct recording *r = p->r;
	uint64_t first = kind == FORMAT_STACKS;
	int rc = 0;

	for (size_t i = 0; i < r->list.blocks.n && rc == 0; i++) {
		const struct format_entry *b = &r->list.blocks.at[i];

		if (b->kind != kind)
			continue;
		if (has_any(needed, first, b->summary.n, r->dictionary.n[kind]))
			rc = place_block(r, b, e);
		first += b->summary.n;
	}
	return rc;
}

/* Callers are needed, too; what is not is as if it had not been read. */
static void need_callers(struct part *p)
{
	struct model_stack *stacks = p->r->dictionary.stacks.at;

	for (uint32_t i = p->r->dictionary.n[FORMAT_STACKS]; i-- > 1;) {
		if (!p->stacks[i]) {
			stacks[i] = (struct model_stack){ 0 };
			continue;
		}
		p->stacks[stacks[i].parent] = true;
		p->locations[stacks[i].location] = true;
	}
}

/* What is not needed refers to the first image and the first location. */
static bool has_what_is_referred_to(const struct dictionary *d)
{
	return (!d->n[FORMAT_LOCATIONS] || d->n[FORMAT_IMAGES]) &&
	       (d->n[FORMAT_STACKS] <= 1 || d->n[FORMAT_LOCATIONS]);
}

static int load_part(struct part *p, struct err *e)
{
	struct recording *r = p->r;
	struct dictionary *d = &r->dictionary;
	int rc = 0;

	for (size_t i = 0; i < r->list.blocks.n && rc == 0; i++) {
		unsigned kind = r->list.blocks.at[i].kind;

		if (!is_late(kind) &&
		    (dictionary_has_kind(kind) || kind == FORMAT_BLOB_PIECE))
			rc = recording_load_block(r, &r->list.blocks.at[i], e);
	}
	if (rc < 0)
		return rc;
	if (!dictionary_reserve(d, FORMAT_LOCATIONS, count_rows(r, FORMAT_LOCATIONS)) ||
	    !dictionary_reserve(d, FORMAT_STACKS, count_rows(r, FORMAT_STACKS)) ||
	    !has_what_is_referred_to(d))
		return err_set(e, ERR_FORMAT, "damaged: the index");
	choose(p);
	p->stacks = xcalloc((size_t)d->n[FORMAT_STACKS] + 1, sizeof(bool));
	p->locations = xcalloc((size_t)d->n[FORMAT_LOCATIONS] + 1, sizeof(bool));
	rc = load_samples(p, e);
	if (rc == 0)
		rc = load_instructions(p, e);
	if (rc == 0)
		rc = place(p, FORMAT_STACKS, p->stacks, e);
	if (rc < 0)
		return rc;
	need_callers(p);
	return place(p, FORMAT_LOCATIONS, p->locations, e);
}

/* *ret stays NULL when the whole must be read: the index does not tell, or something is
 * damaged, around which only a reader of everything finds its way. */
static int try_part(const char *path, const struct recording_part *wanted,
		    struct recording **ret, struct err *e)
{
	own(recording_freep) struct recording *r = xcalloc(1, sizeof(*r));
	own(part_fini) struct part p = { .r = r, .wanted = wanted };
	int rc = block_source_open(&r->source, path, e);

	if (rc < 0)
		return rc;
	dictionary_init(&r->dictionary, r->source.size);
	rc = block_list_read(&r->list, &r->source, &r->damage, e);
	if (rc < 0)
		return err_in(e, rc, path);
	if (!r->source.has_whole_header || !is_indexed(r))
		return 0;
	rc = load_part(&p, e);
	if (rc == ERR_OS)
		return err_in(e, rc, path);
	if (rc < 0 || r->damage.n_findings)
		return 0;
	recording_settle(r);
	*ret = steal(&r);
	return 0;
}

int recording_open_part(const char *path, const struct recording_part *part,
			struct recording **ret, struct err *e)
{
	struct recording *r = NULL;
	int rc = try_part(path, part, &r, e);

	if (rc < 0)
		return rc;
	if (!r)
		return recording_open(path, ret, e);
	*ret = r;
	return 0;
}
