/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_record.h"

#include <stdlib.h>
#include <sys/sysmacros.h>

#include "base/mem.h"
#include "base/own.h"
#include "collect/count_insns.h"

/* A window being taken. */
struct take {
	struct anchor_record *a;
	const struct count_reader *r;
	uint32_t window, process;
	uint64_t now_ns;
	struct tracker_code *places; /* by image; the last: of code in none */
};

void anchor_record_fini(struct anchor_record *a)
{
	map_fini(&a->locations);
	vec_fini(&a->blocks);
	vec_fini(&a->sites);
}

void anchor_record_begin(struct anchor_record *a)
{
	vec_clear(&a->blocks);
	vec_clear(&a->sites);
}

static struct tracker_code place_of(const struct take *t, size_t image)
{
	const struct count_reader_image *x =
		image < t->r->n_images ? &t->r->images[image] : NULL;
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

static uint64_t offset_of(const struct take *t, uint32_t image, uint64_t addr)
{
	if (!t->places[image].is_file)
		return addr;
	return addr + t->r->images[image].off - t->r->images[image].start;
}

static uint32_t location_of(const struct take *t, uint32_t image, uint64_t addr)
{
	return writer_location(t->a->writer, t->places[image].image,
			       offset_of(t, image, addr), 0);
}

/* It ends with what may be a call or jump of as many bytes. */
static void take_site(struct take *t, const struct count_file_block *b, uint64_t times)
{
	uint64_t addr = b->addr + b->size_bytes - ANCHOR_SITE_BYTES;

	if ((b->end != COUNT_END_CALL && b->end != COUNT_END_JUMP) ||
	    b->size_bytes < ANCHOR_SITE_BYTES || !t->places[b->image].is_file)
		return;
	*vec_push(&t->a->sites) =
		(struct anchor_site){ .addr = addr,
				      .target = b->target,
				      .times = times,
				      .image = t->places[b->image].image,
				      .offset = offset_of(t, b->image, addr) };
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
static uint32_t image_of(const struct take *t, uint64_t addr, uint32_t likely)
{
	uint32_t n = (uint32_t)t->r->n_images, i = 0;

	if (likely < n && is_in(&t->r->images[likely], addr))
		return likely;
	while (i < n && !is_in(&t->r->images[i], addr))
		i++;
	return i;
}

static void take_way(const struct take *t, const struct count_file_block *from,
		     uint64_t to, int64_t times)
{
	if (times > 0)
		writer_anchor_way(
			t->a->writer,
			&(struct model_anchor_way){
				.process = t->process,
				.window = t->window,
				.behind = location_of(t, from->image,
						      from->addr + from->size_bytes),
				.to = location_of(t, image_of(t, to, from->image), to),
				.times = (uint64_t)times });
}

/* Where a block leads to alone its times tell, and of branches those that fall through.
 */
static void take_ways(const struct take *t, const struct count_flow *flow)
{
	const struct count_flow_input *in = &t->r->flow;

	for (size_t i = 1; i < in->n_blocks; i++)
		if (in->blocks[i].end == COUNT_END_CONDITIONAL)
			take_way(t, &in->blocks[i], in->blocks[i].target,
				 flow->blocks[i].to);
	for (size_t i = 0; i < in->n_pairs; i++) {
		const struct count_file_pair *p = &in->pairs[i];

		if (p->block && p->block < in->n_blocks && p->counter < in->n_counters)
			take_way(t, &in->blocks[p->block], p->target,
				 (int64_t)in->counters[p->counter]);
	}
}

static void take_block(struct take *t, const struct count_file_block *b, uint64_t times)
{
	uint32_t location = location_of(t, b->image, b->addr);

	*map_slot(&t->a->locations, b->addr, NULL) = location;
	*vec_push(&t->a->blocks) =
		(struct anchor_choice_block){ .addr = b->addr,
					      .times = times,
					      .n_insns = b->n_insns,
					      .size_bytes = b->size_bytes };
	writer_anchor(t->a->writer, &(struct model_anchor){ .process = t->process,
							    .window = t->window,
							    .location = location,
							    .size_bytes = b->size_bytes,
							    .times = times });
}

void anchor_record_window(struct anchor_record *a, uint32_t window, uint64_t now_ns,
			  const struct count_reader *r)
{
	struct take t = {
		.a = a, .r = r, .window = window, .process = a->process, .now_ns = now_ns
	};
	own(freep) struct tracker_code *places =
		xcalloc(r->n_images + 1, sizeof(*places));
	own(count_flow_fini) struct count_flow flow = { 0 };
	own(count_insns_fini) struct count_insns insns = { 0 };

	if (t.process == MODEL_NONE)
		return;
	t.places = places;
	count_flow_solve(&r->flow, &flow);
	count_insns_init(&insns, &r->flow);
	for (size_t i = 0; i <= r->n_images; i++)
		places[i] = place_of(&t, i);
	for (size_t i = 1; i < r->flow.n_blocks; i++) {
		const struct count_file_block *b = &r->flow.blocks[i];
		int64_t n = count_insns_begun(&insns, (uint32_t)i, flow.blocks[i].n);

		if (n > 0 && b->end != COUNT_END_ENTER)
			take_block(&t, b, (uint64_t)n);
		if (n > 0)
			take_site(&t, b, (uint64_t)n);
	}
	take_ways(&t, &flow);
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
