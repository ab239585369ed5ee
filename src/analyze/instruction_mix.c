/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/instruction_mix.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/block_code.h"
#include "base/map.h"
#include "base/mem.h"

#define REPEATED (1u << 16) /* beside a mnemonic's id */

struct making {
	struct instruction_mix *mix;
	const struct profile *p;
	const struct input *s;
	uint32_t source;
	const struct block_graph *graph;
	struct block_code code;
	uint64_t *weights;	/* [location]: 0 when it was taken */
	struct map location_at; /* image and offset: location */
	struct map mnemonics;	/* id and prefix: mnemonic */
	struct map paths;	/* hash of an image's: missing */
};

static void making_fini(struct making *m)
{
	block_code_fini(&m->code);
	map_fini(&m->location_at);
	map_fini(&m->mnemonics);
	map_fini(&m->paths);
	free(m->weights);
}

void instruction_mix_fini(struct instruction_mix *m)
{
	vec_fini(&m->mnemonics);
	vec_fini(&m->missing);
	operation_reader_free(m->reader);
	m->reader = NULL;
}

/* Weights. */

static void take_weights(struct making *m, uint32_t column)
{
	const struct input *s = m->s;

	m->weights = xcalloc((size_t)s->n_locations + 1, sizeof(*m->weights));
	for (uint32_t i = 1; i < s->n_stacks; i++) {
		const uint64_t *weights = input_weights(s, i);

		if (weights)
			m->weights[s->stacks[i].location] += weights[column];
	}
	for (uint32_t i = 0; i < s->n_locations; i++) {
		const struct model_location *l = &s->locations[i];

		m->mix->times += m->weights[i];
		m->mix->n_distinct += m->weights[i] > 0;
		if (!l->flags)
			*map_slot(&m->location_at, hash_pair(l->image, l->offset), NULL) =
				i;
	}
}

/* Instructions. */

static void add_uses(struct instruction_mix_uses *u, bool loads, bool stores,
		     uint64_t times)
{
	u->times += times;
	u->loads += loads ? times : 0;
	u->stores += stores ? times : 0;
}

/* push (%rax) loads in one form and stores in the other. */
static void add_forms(struct instruction_mix *mix, const struct operation *o,
		      uint64_t times)
{
	struct instruction_mix_uses *stack = &mix->forms[INSTRUCTION_KIND_FORM_STACK];
	enum instruction_kind_form form = instruction_kind_form(o);

	if (o->pushes || o->pops)
		add_uses(stack, o->pops, o->pushes, times);
	if (form != INSTRUCTION_KIND_N_FORMS)
		add_uses(&mix->forms[form], instruction_kind_loads(o) && !o->pops,
			 instruction_kind_stores(o) && !o->pushes, times);
}

static void add_registers(struct instruction_mix *mix, const struct operation *o,
			  uint64_t times)
{
	operation_registers reads = o->is_zeroing ? 0 : o->reads, address = o->address;

	if (o->has_segment)
		address |= operation_register_bit(OPERATION_REG_SEGMENT_BASE);
	for (unsigned i = 0; i < OPERATION_N_REGS; i++) {
		struct instruction_mix_register *r = &mix->registers[i];

		if (!operation_has_register(reads | o->writes | address, i))
			continue;
		r->reads += operation_has_register(reads, i) ? times : 0;
		r->writes += operation_has_register(o->writes, i) ? times : 0;
		r->addresses += operation_has_register(address, i) ? times : 0;
		if (o->width > r->width)
			r->width = o->width;
	}
}

static const char *name_of(const struct instruction_mix *mix, const struct operation *o)
{
	const char *name = o->id ? operation_mnemonic(mix->reader, o->id) : NULL;

	return name ? name : "(unknown)";
}

static void add_mnemonic(struct making *m, const struct operation *o, uint64_t times)
{
	bool is_repeated = o->class == OPERATION_REPEATED, is_new;
	uint64_t *slot =
		map_slot(&m->mnemonics, o->id | (is_repeated ? REPEATED : 0u), &is_new);

	if (is_new) {
		*slot = m->mix->mnemonics.n;
		*vec_push(&m->mix->mnemonics) = (struct instruction_mix_mnemonic){
			.name = name_of(m->mix, o),
			.is_repeated = is_repeated,
		};
	}
	m->mix->mnemonics.at[*slot].times += times;
}

static void add_operation(struct making *m, const struct operation *o, uint64_t times)
{
	struct instruction_mix *mix = m->mix;

	bool loads = instruction_kind_loads(o), stores = instruction_kind_stores(o);

	add_uses(&mix->known, loads, stores, times);
	add_uses(&mix->kinds[instruction_kind_of(o)], loads, stores, times);
	mix->bytes += times * o->size;
	if (loads && stores)
		mix->loads_and_stores += times;
	add_forms(mix, o, times);
	add_registers(mix, o, times);
	add_mnemonic(m, o, times);
}

/* Blocks. */

/* Of the instruction off bytes behind the block's begin, or NULL. */
static uint64_t *weight_at(struct making *m, const struct block_graph_block *b,
			   uint64_t off)
{
	const struct model_location *l = &m->s->locations[b->location];
	const uint64_t *at =
		map_find(&m->location_at, hash_pair(l->image, l->offset + off));

	return at ? &m->weights[*at] : NULL;
}

/* A block whose code could not be read when it was recorded has all of its counts at its
 * first instruction: no second one is known. */
static bool is_in_one(struct making *m, const struct block_graph_block *b,
		      const struct operation *o)
{
	return b->n_instructions > 1 && !weight_at(m, b, o->size);
}

/* Each instruction once, though blocks overlap. */
static void take_block(struct making *m, uint32_t block)
{
	const struct block_graph_block *b = &m->graph->blocks.at[block];
	const struct operation *o = m->code.operations.at + m->code.first[block];
	uint32_t n = m->code.n[block];
	uint64_t off = 0, *weight;

	if (!n || n != b->n_instructions)
		return; /* other code than what was executed */
	if (is_in_one(m, b, o)) {
		weight = weight_at(m, b, 0);
		for (uint32_t i = 0; weight && i < n && *weight % n == 0; i++)
			add_operation(m, &o[i], *weight / n);
		if (weight && *weight % n == 0)
			*weight = 0;
		return;
	}
	for (uint32_t i = 0; i < n; off += o[i++].size) {
		weight = weight_at(m, b, off);
		if (weight && *weight)
			add_operation(m, &o[i], *weight);
		if (weight)
			*weight = 0;
	}
}

/* What no block's code was read for.  Memory without a file is many images of one name.
 */
static void take_missing(struct making *m)
{
	for (uint32_t i = 0; i < m->s->n_locations; i++) {
		uint32_t image =
			profile_sym_image(m->p, m->source, m->s->locations[i].image);
		const char *path = symbolizer_image_path(m->p->symbolizer, image);
		uint64_t *slot;
		bool is_new;

		if (!m->weights[i])
			continue;
		path = path ? path : "?";
		slot = map_slot(&m->paths, hash_bytes(path, strlen(path)), &is_new);
		if (is_new) {
			*slot = m->mix->missing.n;
			vec_push(&m->mix->missing)->path = path;
		}
		m->mix->missing.at[*slot].times += m->weights[i];
	}
}

static int by_times(const void *a, const void *b)
{
	const struct instruction_mix_mnemonic *x = a, *y = b;

	if (x->times != y->times)
		return x->times < y->times ? 1 : -1;

	int order = strcmp(x->name, y->name);

	return order ? order : (int)x->is_repeated - (int)y->is_repeated;
}

static int by_missing(const void *a, const void *b)
{
	const struct instruction_mix_image *x = a, *y = b;

	if (x->times != y->times)
		return x->times < y->times ? 1 : -1;
	return strcmp(x->path, y->path);
}

static void put_in_order(struct instruction_mix *mix)
{
	if (mix->mnemonics.n)
		qsort(mix->mnemonics.at, mix->mnemonics.n, sizeof(*mix->mnemonics.at),
		      by_times);
	if (mix->missing.n)
		qsort(mix->missing.at, mix->missing.n, sizeof(*mix->missing.at),
		      by_missing);
}

int instruction_mix_make(struct instruction_mix *ret, const struct profile *p,
			 uint32_t source, const struct block_graph *g, struct err *e)
{
	own(making_fini) struct making m = {
		.mix = ret, .p = p, .s = &p->sources[source], .source = source, .graph = g
	};
	uint32_t column;
	int rc = input_counted_column(m.s, &column, e);

	*ret = (struct instruction_mix){ 0 };
	if (rc == 0)
		rc = operation_reader_new(EM_X86_64, &ret->reader, e);
	if (rc == 0)
		rc = block_code_read(&m.code, p, m.s, source, g, e);
	if (rc < 0)
		return rc;
	take_weights(&m, column);
	for (uint32_t i = 0; i < g->blocks.n; i++)
		take_block(&m, i);
	take_missing(&m);
	put_in_order(ret);
	return 0;
}
