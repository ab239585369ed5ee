/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_record.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/mem.h"
#include "collect/count_insns.h"

#define NONE UINT32_MAX

_Static_assert((int)COUNT_END_ON == BLOCK_END_ON &&
		       (int)COUNT_END_CONDITIONAL == BLOCK_END_BRANCH &&
		       (int)COUNT_END_JUMP == BLOCK_END_JUMP &&
		       (int)COUNT_END_CALL == BLOCK_END_CALL &&
		       (int)COUNT_END_JUMP_TO == BLOCK_END_INDIRECT_JUMP &&
		       (int)COUNT_END_CALL_TO == BLOCK_END_INDIRECT_CALL &&
		       (int)COUNT_END_RETURN == BLOCK_END_RETURN &&
		       (int)COUNT_END_SYSCALL == BLOCK_END_SYSCALL &&
		       (int)COUNT_END_STOP == BLOCK_END_STOP,
	       "stored as the engine tells it");

/* Where the code of an image is in the recording. */
struct place {
	bool is_known;
	struct tracker_code code;
	struct count_code_part part;
};

struct weight {
	uint32_t image; /* id in the recording */
	uint32_t nest;
	uint64_t off;
	uint64_t n;
};

/* What ran under a chosen function. */
struct nest {
	uint32_t stack, outer; /* in the recording: that it is in, and without it */
	uint32_t image;
	uint64_t off, size; /* of the function */
};

/* One process being taken. */
struct take {
	struct count_record *c;
	const struct count_reader *r;
	uint32_t pid, process; /* id in the recording */
	uint64_t start_ns, now_ns;
	struct count_flow flow;
	struct count_insns insns;
	struct place *places; /* by image; the last: of code in none */
	struct map block_at;  /* address: number of the last block that begins there */
	uint32_t *rows;	      /* by block: its id in the recording, NONE */
	struct nest nests[COUNT_FILE_NESTS_MAX];
	VEC(struct weight) weights;
	size_t block; /* whose instructions are being told */
};

void count_record_fini(struct count_record *c)
{
	count_code_fini(&c->code);
	count_stacks_fini(&c->stacks);
}

static void take_fini(struct take *t)
{
	count_flow_fini(&t->flow);
	count_insns_fini(&t->insns);
	free(t->places);
	free(t->rows);
	map_fini(&t->block_at);
	vec_fini(&t->weights);
}

/* Where code is. */

static const char *whole_path(const struct take *t, const char *path, char buf[PATH_MAX])
{
	own(freep) char *absolute = NULL;

	if (!path[0] || path[0] == '/' || path[0] == '[')
		return path;
	absolute = xasprintf("%s/%s", t->c->directory, path);
	return realpath(absolute, buf) ? buf : path;
}

static struct tracker_mmap mapping_of(const struct take *t,
				      const struct count_reader_image *image, char *path)
{
	return (struct tracker_mmap){
		.start = image->start,
		.end = image->start + image->size,
		.file_offset = image->off,
		.path = whole_path(t, image->path, path),
		.inode = image->inode,
		.device = makedev(image->device_major, image->device_minor),
		.is_exec = true,
	};
}

static void find_place(struct take *t, const struct count_reader_image *image,
		       struct place *ret)
{
	char path[PATH_MAX];
	struct tracker_mmap m = mapping_of(t, image, path);

	tracker_mmap(t->c->tracker, t->start_ns, t->pid, &m);
	ret->is_known = true;
	ret->code = tracker_code_of(t->c->tracker, t->now_ns, t->pid, &m);
	if (!strcmp(m.path, "[vdso]"))
		ret->part = count_code_of_vdso(&t->c->code, ret->code.image, image->size);
	else if (ret->code.is_file)
		ret->part = count_code_of_file(&t->c->code, ret->code.image, ret->code.fd,
					       image->off, image->size);
}

/* The program's own image is the first, and names the process: so all are told, in order,
 * whether they were executed or not. */
static void find_places(struct take *t)
{
	t->places = xcalloc(t->r->n_images + 1, sizeof(*t->places));
	for (size_t i = 0; i < t->r->n_images; i++)
		find_place(t, &t->r->images[i], &t->places[i]);
}

/* Where block b is; what is in no image that is known is in memory without a file. */
static const struct place *place_of(struct take *t, const struct count_file_block *b)
{
	static const struct tracker_mmap nowhere = { .path = "" };
	struct place *p = &t->places[b->image];

	if (!p->is_known) {
		p->is_known = true;
		p->code = tracker_code_of(t->c->tracker, t->now_ns, t->pid, &nowhere);
	}
	return p;
}

/* In the image, of an address in block b's. */
static uint64_t offset_of(struct take *t, const struct count_file_block *b, uint64_t addr)
{
	if (!place_of(t, b)->code.is_file)
		return addr;
	return addr - t->r->images[b->image].start + t->r->images[b->image].off;
}

static uint32_t location_of(struct take *t, const struct count_file_block *b,
			    uint64_t addr)
{
	return writer_location(t->c->writer, place_of(t, b)->code.image,
			       offset_of(t, b, addr), 0);
}

static void index_blocks(struct take *t)
{
	const struct count_flow_input *in = &t->r->flow;

	for (size_t i = 1; i < in->n_blocks; i++)
		*map_slot(&t->block_at, in->blocks[i].addr, NULL) = i;
}

/* Blocks. */

static void write_blocks(struct take *t)
{
	const struct count_flow_input *in = &t->r->flow;

	t->rows = xcalloc(in->n_blocks + 1, sizeof(*t->rows));
	for (size_t i = 1; i < in->n_blocks; i++) {
		const struct count_file_block *b = &in->blocks[i];
		int64_t n =
			count_insns_begun(&t->insns, (uint32_t)i, t->flow.blocks[i].n);

		t->rows[i] = NONE;
		if (n <= 0 || b->end == COUNT_END_ENTER)
			continue;
		t->rows[i] = writer_basic_block(
			t->c->writer, &(struct model_basic_block){
					      .process = t->process,
					      .location = location_of(t, b, b->addr),
					      .size_bytes = b->size_bytes,
					      .n_instructions = b->n_insns,
					      .end = b->end,
					      .times = (uint64_t)n,
				      });
	}
}

/* Edges. */

static void write_edge(struct take *t, size_t block, enum edge_kind kind,
		       uint32_t location, int64_t n)
{
	if (n > 0 && t->rows[block] != NONE)
		writer_edge(t->c->writer, &(struct model_edge){ .block = t->rows[block],
								.location = location,
								.kind = kind,
								.times = (uint64_t)n });
}

/* To where some block begins. */
static void write_way(struct take *t, size_t block, enum edge_kind kind, uint64_t target,
		      int64_t n)
{
	const uint64_t *to = n > 0 ? map_find(&t->block_at, target) : NULL;

	write_edge(t, block, kind,
		   to ? location_of(t, &t->r->flow.blocks[*to], target) : MODEL_NONE, n);
}

static void write_ways(struct take *t, size_t i)
{
	static const enum edge_kind to_kinds[] = {
		[COUNT_END_CONDITIONAL] = EDGE_TAKEN,
		[COUNT_END_JUMP] = EDGE_TAKEN,
		[COUNT_END_CALL] = EDGE_CALL,
		[COUNT_END_STOP] = EDGE_TAKEN,
	};
	const struct count_file_block *b = &t->r->flow.blocks[i];
	const struct count_flow_block *f = &t->flow.blocks[i];

	write_way(t, i, b->end == COUNT_END_SYSCALL ? EDGE_SYSCALL : EDGE_ON,
		  b->addr + b->size_bytes, f->on);
	if (b->end == COUNT_END_RETURN)
		write_edge(t, i, EDGE_RETURN, MODEL_NONE, f->to);
	else
		write_way(t, i, to_kinds[b->end], b->target, f->to);
	write_edge(t, i, EDGE_RETURNED, MODEL_NONE, f->returned_to);
}

static void write_pairs(struct take *t)
{
	const struct count_flow_input *in = &t->r->flow;

	for (size_t i = 0; i < in->n_pairs; i++) {
		const struct count_file_pair *p = &in->pairs[i];

		if (p->block && p->block < in->n_blocks)
			write_way(t, p->block,
				  in->blocks[p->block].end == COUNT_END_CALL_TO
					  ? EDGE_INDIRECT_CALL
					  : EDGE_INDIRECT_JUMP,
				  p->target, (int64_t)in->counters[p->counter]);
	}
}

static void write_extras(struct take *t)
{
	const struct count_flow_input *in = &t->r->flow;

	for (size_t i = 0; i < in->n_extras; i++) {
		const struct count_file_extra *x = &in->extras[i];
		const uint64_t *at = map_find(&t->block_at, x->addr);

		if (x->kind == COUNT_EXTRA_ENTER && at)
			write_edge(t, *at, EDGE_ENTERED, MODEL_NONE, (int64_t)x->n);
		if (x->kind == COUNT_EXTRA_LEAVE && x->block && x->block < in->n_blocks)
			write_edge(t, x->block, EDGE_LEFT,
				   location_of(t, &in->blocks[x->block], x->addr),
				   (int64_t)x->n);
	}
}

static void write_edges(struct take *t)
{
	for (size_t i = 1; i < t->r->flow.n_blocks; i++)
		if (t->rows[i] != NONE)
			write_ways(t, i);
	write_pairs(t);
	write_extras(t);
}

/* Nests: the chosen functions are the callers, so to speak, of what ran under them. */

static void find_nests(struct take *t)
{
	struct writer *w = t->c->writer;

	for (size_t i = 1; i < t->r->n_nests; i++) {
		const struct count_file_nest *n = &t->r->nests[i];
		const struct count_reader_image *image = &t->r->images[n->image];
		struct nest *to = &t->nests[i];

		*to = (struct nest){ .stack = t->nests[n->parent].stack,
				     .outer = t->nests[n->parent].stack };
		if (n->image == t->r->n_images)
			continue;
		to->image = t->places[n->image].code.image;
		to->off = n->entry - image->start + image->off;
		to->size =
			n->function < t->c->n_under ? t->c->under[n->function].size : 0;
		to->stack = writer_stack(
			w, to->outer,
			writer_location(w, to->image, to->off, LOCATION_UNDER));
	}
}

/* The function itself is not its own caller. */
static uint32_t outer_of(const struct take *t, const struct weight *w)
{
	const struct nest *n = &t->nests[w->nest];
	bool is_own = w->image == n->image && w->off - n->off < n->size;

	return is_own ? n->outer : n->stack;
}

static uint32_t stack_of(struct take *t, const struct weight *w)
{
	struct count_record *c = t->c;
	uint32_t stack = w->nest ? 0 : count_stacks_find(&c->stacks, w->image, w->off);

	if (stack)
		return stack;
	stack = writer_stack(c->writer, outer_of(t, w),
			     writer_location(c->writer, w->image, w->off, 0));
	if (!w->nest)
		count_stacks_add(&c->stacks, w->image, w->off, stack);
	return stack;
}

/* Instructions: blocks may overlap, so they are summed by where they are. */

static void take_insn(void *ctx, uint32_t off, uint64_t n)
{
	struct take *t = ctx;
	const struct count_file_block *b = &t->r->flow.blocks[t->block];

	*vec_push(&t->weights) = (struct weight){
		.image = place_of(t, b)->code.image,
		.nest = b->nest,
		.off = offset_of(t, b, b->addr + off),
		.n = n,
	};
}

static void weigh(struct take *t)
{
	const struct count_flow_input *in = &t->r->flow;

	for (size_t i = 1; i < in->n_blocks; i++) {
		const struct count_file_block *b = &in->blocks[i];
		int64_t n = t->flow.blocks[i].n;

		if (n <= 0 || b->end == COUNT_END_ENTER)
			continue;
		t->block = i;
		t->c->n_undecoded += !count_insns_each(
			&t->insns, (uint32_t)i, b, n,
			count_code_at(&place_of(t, b)->part, offset_of(t, b, b->addr),
				      b->size_bytes),
			take_insn, t);
	}
}

static int by_place(const void *a, const void *b)
{
	const struct weight *x = a, *y = b;

	if (x->nest != y->nest)
		return x->nest < y->nest ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->off > y->off) - (x->off < y->off);
}

static void write_sample(struct take *t, const struct weight *w)
{
	struct count_record *c = t->c;
	struct tracker_sample s = {
		.time_ns = t->now_ns,
		.weight = w->n,
		.event = c->event,
		.pid = t->pid,
		.tid = t->pid,
		.cpu = MODEL_NONE,
		.count = w->n < UINT32_MAX ? (uint32_t)w->n : UINT32_MAX,
	};

	tracker_add(c->tracker, &s, stack_of(t, w));
	c->n_samples++;
}

static void write_instructions(struct take *t)
{
	weigh(t);
	if (!t->weights.n)
		return;
	qsort(t->weights.at, t->weights.n, sizeof(*t->weights.at), by_place);
	count_stacks_begin(&t->c->stacks);
	for (size_t i = 0, end; i < t->weights.n; i = end) {
		struct weight sum = t->weights.at[i];

		for (end = i + 1;
		     end < t->weights.n && by_place(&sum, &t->weights.at[end]) == 0;
		     end++)
			sum.n += t->weights.at[end].n;
		write_sample(t, &sum);
	}
	count_stacks_end(&t->c->stacks);
}

void count_record_take(struct count_record *c, uint32_t pid, uint64_t start_ns,
		       uint64_t now_ns, const struct count_reader *r)
{
	own(take_fini) struct take t = { .c = c,
					 .r = r,
					 .pid = pid,
					 .process = tracker_process_id(c->tracker, pid),
					 .start_ns = start_ns,
					 .now_ns = now_ns };

	count_flow_solve(&r->flow, &t.flow);
	count_insns_init(&t.insns, &r->flow);
	c->n_unbalanced += t.flow.n_unbalanced;
	c->n_unknown += t.flow.n_unknown;
	c->n_lost += r->n_lost;
	c->n_cut += r->is_cut;
	c->n_left += r->is_left;
	for (size_t i = 0; i < r->n_images; i++)
		c->n_not_followed += !r->images[i].size;
	find_places(&t);
	find_nests(&t);
	index_blocks(&t);
	write_blocks(&t);
	write_edges(&t);
	write_instructions(&t);
}
