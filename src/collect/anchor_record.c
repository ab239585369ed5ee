/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

/* A window being taken. */
struct take {
	struct anchor_record *a;
	const struct count_live *l;
	uint32_t window;
	uint64_t now_ns;
	uint64_t counted_ns; /* 0: it is told */
};

void anchor_record_fini(struct anchor_record *a)
{
	map_fini(&a->locations);
	vec_fini(&a->blocks);
	vec_fini(&a->sites);
	vec_fini(&a->places);
	vec_fini(&a->kept);
	vec_fini(&a->kept_pairs);
}

void anchor_record_begin(struct anchor_record *a)
{
	vec_clear(&a->blocks);
	vec_clear(&a->sites);
}

void anchor_record_forget(struct anchor_record *a)
{
	anchor_record_begin(a);
	map_clear(&a->locations);
	vec_clear(&a->kept);
	vec_clear(&a->kept_pairs);
}

static struct tracker_code place_of(const struct take *t, size_t image)
{
	const struct count_reader_image *x =
		image < t->l->images.n ? &t->l->images.at[image] : NULL;
	struct tracker_mmap m = { .path = "" };

	if (x)
		m = (struct tracker_mmap){
			.start = x->start,
			.end = x->start + x->size,
			.file_offset = x->off,
			.path = x->path,
			.inode = x->inode,
			.device = makedev(x->device_major, x->device_minor),
			.is_exec = true,
		};
	return tracker_code_of(t->a->tracker, t->now_ns, t->a->pid, &m);
}

static bool is_same_place(const struct tracker_code *a, const struct tracker_code *b)
{
	return a->image == b->image && a->is_file == b->is_file;
}

/* False: what is kept is of other ones. */
static bool find_places(const struct take *t)
{
	struct anchor_record *a = t->a;
	size_t n = t->l->images.n + 1;
	bool are_same = n == a->places.n;

	vec_reserve(&a->places, n);
	for (size_t i = 0; i < n; i++) {
		struct tracker_code place = place_of(t, i);

		are_same = are_same && is_same_place(&place, &a->places.at[i]);
		a->places.at[i] = place;
	}
	a->places.n = n;
	return are_same;
}

static void keep(const struct take *t)
{
	struct anchor_record *a = t->a;

	if (!find_places(t) || memcmp(&a->id, &t->l->there.id, sizeof(a->id)) != 0 ||
	    !a->id.time_ns) {
		a->id = t->l->there.id;
		vec_clear(&a->kept);
		vec_clear(&a->kept_pairs);
	}
	while (a->kept.n < t->l->blocks.n)
		vec_push(&a->kept);
	while (a->kept_pairs.n < t->l->pairs.n)
		vec_push(&a->kept_pairs);
}

static size_t index_of(const struct take *t, uint32_t image)
{
	return image < t->l->images.n ? image : t->l->images.n;
}

static uint64_t offset_of(const struct take *t, size_t image, uint64_t addr)
{
	if (!t->a->places.at[image].is_file)
		return addr;
	return addr + t->l->images.at[image].off - t->l->images.at[image].start;
}

static uint32_t location_of(const struct take *t, size_t image, uint64_t addr)
{
	return writer_location(t->a->writer, t->a->places.at[image].image,
			       offset_of(t, image, addr), 0);
}

/* It ends with what may be a call or jump of as many bytes. */
static void take_site(struct take *t, const struct count_file_block *b, uint64_t times)
{
	uint64_t addr = b->addr + b->size_bytes - ANCHOR_SITE_BYTES;
	size_t image = index_of(t, b->image);
	const struct tracker_code *place = &t->a->places.at[image];

	if ((b->end != COUNT_END_CALL && b->end != COUNT_END_JUMP) ||
	    b->size_bytes < ANCHOR_SITE_BYTES || !place->is_file)
		return;
	*vec_push(&t->a->sites) =
		(struct anchor_site){ .addr = addr,
				      .target = b->target,
				      .times = times,
				      .image = place->image,
				      .offset = offset_of(t, image, addr) };
}

static int by_addr(const void *a, const void *b)
{
	const struct anchor_site *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Several blocks may end with the same one. */
static void put_sites_together(struct anchor_record *a)
{
	size_t n = 0;

	if (a->sites.n)
		qsort(a->sites.at, a->sites.n, sizeof(*a->sites.at), by_addr);
	vec_each(s, &a->sites) {
		if (n && a->sites.at[n - 1].addr == s->addr)
			a->sites.at[n - 1].times += s->times;
		else
			a->sites.at[n++] = *s;
	}
	a->sites.n = n;
}

/* Of no size: a program that was not followed. */
static bool is_in(const struct count_reader_image *x, uint64_t addr)
{
	return addr - x->start < x->size;
}

/* Of an address, most likely in that image. */
static size_t image_of(const struct take *t, uint64_t addr, size_t likely)
{
	size_t n = t->l->images.n, i = 0;

	if (likely < n && is_in(&t->l->images.at[likely], addr))
		return likely;
	while (i < n && !is_in(&t->l->images.at[i], addr))
		i++;
	return i;
}

static uint32_t target_of(const struct take *t, const struct count_file_block *from,
			  uint64_t to)
{
	return location_of(t, image_of(t, to, from->image), to);
}

/* *to: one more than the location that it leads to, or 0. */
static void take_way(const struct take *t, uint32_t block, uint64_t addr, uint32_t *to,
		     uint64_t times)
{
	const struct count_file_block *b = &t->l->blocks.at[block];
	struct anchor_record_block *kept = &t->a->kept.at[block];

	if (!kept->behind)
		kept->behind =
			location_of(t, index_of(t, b->image), b->addr + b->size_bytes) +
			1;
	if (!*to)
		*to = target_of(t, b, addr) + 1;
	writer_anchor_way(t->a->writer,
			  &(struct model_anchor_way){ .process = t->a->process,
						      .window = t->window,
						      .behind = kept->behind - 1,
						      .to = *to - 1,
						      .times = times });
}

/* Where a block leads to alone its times tell, and of branches those that fall through.
 */
static void take_ways(const struct take *t)
{
	const struct count_live *l = t->l;

	vec_each(i, &l->executed) {
		const struct count_file_block *b = &l->blocks.at[*i];

		if (b->end == COUNT_END_CONDITIONAL && l->flows.at[*i].to > 0)
			take_way(t, *i, b->target, &t->a->kept.at[*i].to,
				 (uint64_t)l->flows.at[*i].to);
	}
	vec_each(x, &l->taken) {
		const struct count_file_pair *p = &l->pairs.at[x->pair];

		if ((int64_t)x->times > 0)
			take_way(t, p->block, p->target, &t->a->kept_pairs.at[x->pair],
				 x->times);
	}
}

static void take_block(struct take *t, uint32_t block, uint64_t times)
{
	const struct count_file_block *b = &t->l->blocks.at[block];
	uint32_t *at = &t->a->kept.at[block].at;

	if (!*at) {
		*at = location_of(t, index_of(t, b->image), b->addr) + 1;
		*map_slot(&t->a->locations, b->addr, NULL) = *at - 1;
	}
	*vec_push(&t->a->blocks) =
		(struct anchor_choice_block){ .addr = b->addr,
					      .times = times,
					      .n_insns = b->n_insns,
					      .size_bytes = b->size_bytes };
	writer_anchor(t->a->writer, &(struct model_anchor){ .process = t->a->process,
							    .window = t->window,
							    .location = *at - 1,
							    .size_bytes = b->size_bytes,
							    .times = times,
							    .cpu_ns = t->counted_ns });
	t->counted_ns = 0;
}

void anchor_record_window(struct anchor_record *a, uint32_t window, uint64_t now_ns,
			  uint64_t counted_ns, const struct count_live *l)
{
	/* of a window's first file, should counting have gone on in another one */
	struct take t = { a, l, window, now_ns, a->blocks.n ? 0 : counted_ns };

	if (a->process == MODEL_NONE)
		return;
	keep(&t);
	vec_each(i, &l->executed) {
		const struct count_file_block *b = &l->blocks.at[*i];
		int64_t n = l->flows.at[*i].n;

		if (n > 0 && b->end != COUNT_END_ENTER)
			take_block(&t, *i, (uint64_t)n);
		if (n > 0)
			take_site(&t, b, (uint64_t)n);
	}
	take_ways(&t);
	put_sites_together(a);
}

double anchor_record_insns(const struct anchor_record *a)
{
	double n = 0;

	vec_each(b, &a->blocks)
		n += (double)b->times * b->n_insns;
	return n;
}

void anchor_record_watched(struct anchor_record *a, uint32_t window, uint64_t addr,
			   uint64_t times, uint64_t cpu_ns)
{
	const uint64_t *location = map_find(&a->locations, addr);

	if (location && a->process != MODEL_NONE)
		writer_anchor(a->writer,
			      &(struct model_anchor){ .process = a->process,
						      .window = window,
						      .location = (uint32_t)*location,
						      .times = times,
						      .cpu_ns = cpu_ns });
}

void anchor_record_site(struct anchor_record *a, uint32_t window, bool is_near,
			const struct anchor_site *s, uint64_t times, uint64_t cpu_ns)
{
	if (a->process != MODEL_NONE)
		writer_anchor(a->writer,
			      &(struct model_anchor){
				      .process = a->process,
				      .window = window,
				      .location = writer_location(a->writer, s->image,
								  s->offset, 0),
				      .times = times,
				      .cpu_ns = cpu_ns,
				      .is_near = is_near });
}

void anchor_record_passed(struct anchor_record *a, uint32_t window, uint64_t cpu_ns,
			  uint64_t unseen_ns)
{
	struct model_anchor row = { .process = a->process,
				    .window = window,
				    .location = MODEL_NONE,
				    .cpu_ns = cpu_ns };

	writer_anchor(a->writer, &row);
	if (!unseen_ns)
		return;
	row.cpu_ns = unseen_ns;
	row.is_near = true;
	writer_anchor(a->writer, &row);
}
