/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/function_code.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/anchored.h"
#include "analyze/anchoring.h"
#include "analyze/best_case.h"
#include "analyze/block_graph.h"
#include "analyze/frequency_bound.h"
#include "analyze/function_index.h"
#include "analyze/function_ways.h"
#include "analyze/listing.h"
#include "analyze/machine_choice.h"
#include "analyze/profile_data.h"
#include "base/map.h"
#include "base/mem.h"
#include "insn/flow_solve.h"

#define MAX_BYTES (4u << 20)
#define UNKNOWN	  (-1.0)

struct making {
	struct function_code *to;
	const struct profile *p;
	const struct profile_function *f;
	const struct function_code_options *o;
	struct listing listing;
	struct map step_at;  /* address: step */
	struct map way_from; /* of the end of a block and a target: way */
};

static void making_fini(struct making *m)
{
	if (!m->o->index)
		listing_fini(&m->listing);
	map_fini(&m->step_at);
	map_fini(&m->way_from);
}

void function_code_fini(struct function_code *c)
{
	buf_fini(&c->code);
	procedure_free(c->procedure);
	free(c->steps);
	free(c->blocks);
	free(c->ways);
	miss_samples_fini(&c->misses);
	access_places_fini(&c->accesses);
	code_heat_lines_fini(&c->heat);
	*c = (struct function_code){ 0 };
}

/* The code. */

static bool read_constant(void *ctx, uint64_t address, void *to, size_t bytes)
{
	const struct making *m = ctx;
	own(buf_fini) struct buf b = { 0 };

	if (symbolizer_code(m->p->symbolizer, m->f->sym_image, address, bytes, &b, NULL) <
		    0 ||
	    b.size != bytes)
		return false;
	memcpy(to, b.data, bytes);
	return true;
}

static int read_procedure(struct making *m, struct err *e)
{
	struct symbolizer *s = m->p->symbolizer;
	const struct profile_function *f = m->f;
	struct procedure_range range = { .address = f->start, .size = f->size };
	struct procedure_options options = { .machine =
						     symbolizer_machine(s, f->sym_image),
					     .ranges = &range,
					     .n_ranges = 1,
					     .entry = f->start,
					     .read = read_constant,
					     .ctx = m };

	if (!f->start && !f->is_resolved)
		return err_set(e, ERR_UNSUPPORTED,
			       "%.200s is no function, but all code of its image that is "
			       "in none",
			       f->name);
	if (!f->start)
		return err_set(e, ERR_UNSUPPORTED,
			       "%.200s is only inlined: ask for one of its callers "
			       "('dwell callers' names them)",
			       f->name);
	if (!f->size || f->size > MAX_BYTES)
		return err_set(e, ERR_UNSUPPORTED, "%.200s: its size is not known",
			       f->name);

	int rc = symbolizer_code(s, f->sym_image, f->start, f->size, &m->to->code, e);

	range.code = m->to->code.data;
	range.size = m->to->code.size;
	return rc < 0 ? rc : procedure_new(&options, &m->to->procedure, e);
}

static int read_operations(struct making *m, struct err *e)
{
	const struct procedure *c = m->to->procedure;
	unsigned machine = symbolizer_machine(m->p->symbolizer, m->f->sym_image);
	own(operation_reader_freep) struct operation_reader *r = NULL;
	int rc = operation_reader_new(machine, &r, e);

	for (uint32_t i = 0; i < c->n_steps && rc == 0; i++) {
		uint64_t at = c->steps[i].address - m->f->start;
		bool is_new;

		*map_slot(&m->step_at, c->steps[i].address, &is_new) = i;
		if (!operation_read(r, m->to->code.data + at, m->to->code.size - at,
				    c->steps[i].address, &m->to->steps[i].operation))
			m->to->steps[i].operation = (struct operation){ 0 };
	}
	return rc;
}

/* Where a way leads, also out of the function; 0: not known. */
static uint64_t target_of(const struct procedure *c, const struct procedure_way *w)
{
	const struct procedure_block *from = &c->blocks[w->from];

	if (w->to != PROCEDURE_OUTSIDE)
		return c->blocks[w->to].start;
	return from->n_steps ? c->steps[from->first_step + from->n_steps - 1].target : 0;
}

static void index_ways(struct making *m)
{
	const struct procedure *c = m->to->procedure;

	for (uint32_t i = 0; i < c->n_ways; i++) {
		const struct procedure_way *w = &c->ways[i];
		bool is_new;

		if (w->from == PROCEDURE_OUTSIDE || !target_of(c, w))
			continue;
		*map_slot(&m->way_from,
			  hash_pair(c->blocks[w->from].end, target_of(c, w)), &is_new) =
			i;
	}
}

/* Samples. */

static size_t find_count_column(const struct profile *p)
{
	for (size_t i = 0; i < p->n_sources; i++) {
		uint32_t column;

		if (recording_n_basic_blocks(p->sources[i].recording) &&
		    input_counted_column(&p->sources[i], &column, NULL) == 0)
			return p->sources[i].first_column + column;
	}
	return FUNCTION_CODE_NONE;
}

static const struct recording *source_of(const struct making *m, size_t column)
{
	return m->p->sources[m->p->columns.at[column].source].recording;
}

static double cycles_of(const struct function_code *c, uint64_t weight)
{
	return (double)weight * (c->clock_ghz > 0 ? c->clock_ghz : 1);
}

static void take_sample(struct making *m, const struct listing_row *row, size_t of)
{
	struct function_code *c = m->to;
	const struct profile_column *column = &m->p->columns.at[of];
	uint64_t weight = row->exclusive[of];
	const uint64_t *step = map_find(&m->step_at, row->address);
	uint64_t n = column->period ? (weight + column->period / 2) / column->period : 0;
	double cycles = cycles_of(c, weight);
	uint32_t block;

	c->samples += n;
	c->cycles += cycles;
	if (!step)
		return;
	c->steps[*step].samples += n;
	block = procedure_block_at(c->procedure, row->address);
	if (block == PROCEDURE_OUTSIDE)
		return;
	c->blocks[block].samples += n;
	c->blocks[block].cycles += cycles;
	if (*step == c->procedure->blocks[block].first_step)
		c->blocks[block].arrival += cycles;
	else
		c->steps[*step - 1].cycles += cycles;
}

static void take_samples(struct making *m)
{
	const struct listing_rows *rows = &m->listing.instructions;
	size_t column = time_column_find(m->p, 0);

	m->to->time_column = column;
	if (column == FUNCTION_CODE_NONE)
		return;
	m->to->is_alone = recording_n_threads(source_of(m, column)) <=
			  recording_n_processes(source_of(m, column));
	if (!time_column_is_cycles(m->p, column))
		m->to->clock_ghz =
			machine_choice_clock_ghz(source_of(m, column), m->o->clock_ghz);
	for (; column != FUNCTION_CODE_NONE;
	     column = time_column_find(m->p, column + 1)) {
		m->to->n_runs++;
		m->to->all_cycles +=
			cycles_of(m->to, m->p->columns.at[column].total_weight);
		for (size_t i = 0; i < rows->n; i++)
			if (!rows->rows[i].is_return)
				take_sample(m, &rows->rows[i], column);
	}
}

/* Which of its lines stay in the cache of code. */
static void take_heat(struct making *m)
{
	const struct function_index *index = m->o->index;
	own(code_heat_fini) struct code_heat own = { 0 };

	if (!index)
		code_heat_init(&own, m->p);
	code_heat_lines_init(&m->to->heat, index ? function_index_heat(index) : &own,
			     m->f->sym_image, m->f->start, m->f->size,
			     cycles_of(m->to, 1));
}

/* Where the CPU has a counter of instructions. */

static bool is_retired(const struct profile *p, size_t column)
{
	const struct profile_column *c = &p->columns.at[column];

	return time_column_is_counter(c, "instructions") &&
	       !recording_n_basic_blocks(p->sources[c->source].recording);
}

/* Several recordings are as many runs, of which there may be others of time. */
static void take_retired(struct making *m)
{
	const struct listing_rows *rows = &m->listing.instructions;
	struct function_code *c = m->to;
	unsigned n_runs = 0;

	for (size_t k = 0; k < m->p->columns.n; k++) {
		const struct profile_column *column = &m->p->columns.at[k];
		double weight = 0;

		if (!is_retired(m->p, k))
			continue;
		n_runs++;
		for (size_t i = 0; i < rows->n; i++)
			if (!rows->rows[i].is_return)
				weight += (double)rows->rows[i].exclusive[k];
		c->retired += weight;
		c->retired_samples += weight * (double)column->total_count /
				      (double)column->total_weight;
	}
	if (n_runs)
		c->retired *= (double)c->n_runs / n_runs;
}

/* Directions. */

struct place {
	uint64_t address;
	bool is_here; /* in the function's image */
};

struct direction_taking {
	struct making *m;
	const struct recording *r;
	uint64_t delta; /* of addresses to offsets */
	const bool *is_image;
};

static struct place place_of(const struct direction_taking *t, uint32_t location)
{
	const struct model_location *l = &recording_locations(t->r)[location];

	return (struct place){ l->offset + t->delta, t->is_image[l->image] };
}

static int take_direction(void *ctx, const struct model_direction *d, struct err *e)
{
	const struct direction_taking *t = ctx;
	struct function_code *c = t->m->to;
	struct place from = place_of(t, d->location), to;
	const uint64_t *step, *way;
	uint32_t block;

	(void)e;
	step = from.is_here ? map_find(&t->m->step_at, from.address) : NULL;
	block = step ? procedure_block_at(c->procedure, from.address) : PROCEDURE_OUTSIDE;
	if (block == PROCEDURE_OUTSIDE)
		return 0;
	if (d->to == MODEL_NONE) {
		c->blocks[block].untold += d->times;
		return 0;
	}
	to = place_of(t, d->to);
	way = to.is_here
		      ? map_find(&t->m->way_from,
				 hash_pair(c->procedure->blocks[block].end, to.address))
		      : NULL;
	if (!way)
		return 0;
	c->ways[*way].told += d->times;
	c->ways[*way].told_samples += d->samples;
	c->ways[*way].missed += d->missed;
	c->ways[*way].foreseen += d->foreseen;
	return 0;
}

static int take_access(void *ctx, const struct model_access *a, struct err *e)
{
	const struct direction_taking *t = ctx;
	struct place at = place_of(t, a->location);
	const uint64_t *step = at.is_here ? map_find(&t->m->step_at, at.address) : NULL;

	(void)e;
	if (step)
		access_places_add(&t->m->to->accesses, (uint32_t)*step, a);
	return 0;
}

static int add_indexed(struct direction_taking *t, struct err *e)
{
	const struct function_index *x = t->m->o->index;
	const struct profile_function *f = t->m->f;
	uint64_t from = f->start - t->delta, end = from + f->size;
	int rc = function_index_each_direction(x, f->sym_image, from, end, take_direction,
					       t, e);

	return rc < 0 ? rc
		      : function_index_each_access(x, f->sym_image, from, end,
						   take_access, t, e);
}

static int add_directions(const struct direction_taking *sums, uint32_t source,
			  struct err *e)
{
	const struct profile *p = sums->m->p;
	const struct recording *r = p->sources[source].recording;
	own(freep) bool *is_image = xcalloc(recording_n_images(r) + 1, sizeof(*is_image));
	struct direction_taking t = *sums;

	for (uint32_t i = 0; i < recording_n_images(r); i++)
		is_image[i] = profile_sym_image(p, source, i) == t.m->f->sym_image;
	t.r = r;
	t.is_image = is_image;
	if (t.m->o->index && source == p->columns.at[t.m->to->time_column].source)
		return add_indexed(&t, e);

	int rc = recording_each_direction(r, take_direction, &t, e);

	return rc < 0 ? rc : recording_each_access(r, take_access, &t, e);
}

static int take_directions(struct making *m, struct err *e)
{
	struct direction_taking sums = { .m = m, .delta = m->listing.code_delta };

	if (!m->listing.has_code_delta)
		return 0;
	for (size_t i = m->to->time_column; i != FUNCTION_CODE_NONE;
	     i = time_column_find(m->p, i + 1)) {
		int rc = add_directions(&sums, m->p->columns.at[i].source, e);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Counts. */

static uint64_t address_of(const struct input *s, const struct profile *p,
			   const struct block_graph_block *b)
{
	return s->n_frames[b->location]
		       ? p->frames.at[s->first_frame[b->location]].address
		       : 0;
}

/* Jumps and branches; whoever falls through is the rest. */
static void count_jump(struct making *m, const struct input *s,
		       const struct block_graph *g, const struct block_graph_way *w)
{
	const struct block_graph_block *from, *to;
	const uint64_t *way;

	if (w->from == MODEL_NONE || w->to == MODEL_NONE ||
	    (w->kind != EDGE_TAKEN && w->kind != EDGE_INDIRECT_JUMP))
		return;
	from = &g->blocks.at[w->from];
	to = &g->blocks.at[w->to];
	if (s->locations[from->location].image != s->locations[to->location].image)
		return;
	way = map_find(&m->way_from,
		       hash_pair(address_of(s, m->p, from) + from->size_bytes,
				 address_of(s, m->p, to)));
	if (way)
		m->to->ways[*way].times += (double)w->times;
}

static int count_jumps(struct making *m, struct input *s, struct err *e)
{
	const struct block_graph *g;
	const uint32_t *ways;
	size_t n;
	int rc = input_block_graph(s, &g, e);

	if (rc < 0)
		return rc;
	if (!m->o->index) {
		vec_each(w, &g->ways)
			count_jump(m, s, g, w);
		return 0;
	}
	ways = function_index_ways(m->o->index, (uint32_t)(m->f - m->p->functions.at),
				   &n);
	for (size_t i = 0; i < n; i++)
		count_jump(m, s, g, &g->ways.at[ways[i]]);
	return 0;
}

/* Of ways that lead on, or leave, the last one takes what is left. */
static void share_rest(struct function_code *c, uint32_t block)
{
	const struct procedure_block *b = &c->procedure->blocks[block];
	double rest = c->blocks[block].times;
	uint32_t last = PROCEDURE_OUTSIDE;

	for (uint32_t i = b->first_out; i < b->first_out + b->n_out; i++) {
		rest -= c->ways[i].times;
		if (c->procedure->ways[i].kind == PROCEDURE_WAY_ON ||
		    (c->procedure->ways[i].kind == PROCEDURE_WAY_LEAVE &&
		     last == PROCEDURE_OUTSIDE))
			last = i;
	}
	if (last != PROCEDURE_OUTSIDE && rest > 0)
		c->ways[last].times += rest;
}

/* Who comes from outside is the rest of those who came. */
static void share_entries(struct function_code *c, uint32_t block)
{
	const struct procedure_block *b = &c->procedure->blocks[block];
	double rest = c->blocks[block].times;
	uint32_t entry = PROCEDURE_OUTSIDE;

	for (uint32_t i = 0; i < b->n_in; i++) {
		uint32_t way = c->procedure->ways_in[b->first_in + i];

		if (c->procedure->ways[way].from == PROCEDURE_OUTSIDE)
			entry = way;
		else
			rest -= c->ways[way].times;
	}
	if (entry != PROCEDURE_OUTSIDE && rest > 0)
		c->ways[entry].times = rest;
}

/* Of another program, of another build, or none that the filter lets pass: there may be
 * none of the function. */
static bool take_step_counts(struct making *m, size_t column)
{
	const struct listing_rows *rows = &m->listing.instructions;
	struct function_code *c = m->to;
	double all = 0;

	for (uint32_t i = 0; i < c->procedure->n_steps; i++)
		c->steps[i].times = 0;
	for (size_t i = 0; i < rows->n; i++) {
		const uint64_t *step = map_find(&m->step_at, rows->rows[i].address);

		if (!step || rows->rows[i].is_return)
			continue;
		c->steps[*step].times += (double)rows->rows[i].exclusive[column];
		all += (double)rows->rows[i].exclusive[column];
	}
	for (uint32_t i = 0; i < c->procedure->n_steps && all <= 0; i++)
		c->steps[i].times = UNKNOWN;
	return all > 0;
}

/* Counts are of one run: so is time, on average. */
static void average_runs(struct function_code *c)
{
	double n = c->n_runs;

	if (c->n_runs < 2)
		return;
	c->cycles /= n;
	c->all_cycles /= n;
	c->heat.refills /= n;
	c->heat.page_refills /= n;
	for (uint32_t i = 0; i < c->procedure->n_steps; i++)
		c->steps[i].cycles /= n;
	for (uint32_t i = 0; i < c->procedure->n_blocks; i++) {
		c->blocks[i].cycles /= n;
		c->blocks[i].arrival /= n;
	}
}

/* No range. */
static void be_sure(struct function_code *c)
{
	c->confidence = FREQUENCY_HIGH;
	for (uint32_t i = 0; i < c->procedure->n_blocks; i++) {
		struct function_code_block *b = &c->blocks[i];

		b->times_low = b->times_high = b->times;
		b->confidence = FREQUENCY_HIGH;
	}
	for (uint32_t i = 0; i < c->procedure->n_ways; i++) {
		struct function_code_way *w = &c->ways[i];

		w->times_low = w->times_high = w->times;
		w->confidence = FREQUENCY_HIGH;
	}
}

static int take_counts(struct making *m, struct err *e)
{
	struct function_code *c = m->to;
	size_t column = find_count_column(m->p);
	int rc;

	c->count_column = FUNCTION_CODE_NONE;
	if (column == FUNCTION_CODE_NONE)
		return 0;
	c->has_no_counts = !take_step_counts(m, column);
	if (c->has_no_counts)
		return 0;
	c->count_column = column;
	for (uint32_t i = 0; i < c->procedure->n_ways; i++)
		c->ways[i].times = 0;
	rc = count_jumps(m, &m->p->sources[m->p->columns.at[column].source], e);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < c->procedure->n_blocks; i++) {
		const struct procedure_block *b = &c->procedure->blocks[i];

		c->blocks[i].times = b->n_steps ? c->steps[b->first_step].times : 0;
		share_rest(c, i);
	}
	for (uint32_t i = 0; i < c->procedure->n_blocks; i++)
		share_entries(c, i);
	be_sure(c);
	function_ways_enter(c);
	average_runs(c);
	return 0;
}

/* What was executed on. */

static int choose_model(struct making *m, struct err *e)
{
	struct function_code *c = m->to;
	size_t column =
		c->time_column != FUNCTION_CODE_NONE ? c->time_column : c->count_column;
	unsigned machine = symbolizer_machine(m->p->symbolizer, m->f->sym_image);

	if (column == FUNCTION_CODE_NONE)
		return 0;

	int rc = machine_choice_model(source_of(m, column), machine, m->o->model,
				      &c->model, e);

	if (rc == 0 && c->model)
		c->is_nearest_model =
			machine_choice_is_nearest(source_of(m, column), c->model);
	return rc;
}

/* What was not counted. */

/* False: by samples alone, then. */
static bool estimate_anchored(struct making *m, const struct anchoring *a)
{
	struct function_code *c = m->to;
	own(freep) struct anchoring_block *blocks =
		xcalloc(c->procedure->n_blocks + 1, sizeof(*blocks));
	own(freep) struct anchoring_way *ways =
		xcalloc(c->procedure->n_ways + 1, sizeof(*ways));

	if (a && m->listing.has_code_delta)
		c->n_windows = anchoring_find(a, m->f->sym_image, m->listing.code_delta,
					      c->procedure, blocks, ways);
	if (c->n_windows && !anchored_estimate(c, blocks, ways))
		c->n_windows = 0;
	return c->n_windows;
}

/* What is expected tells how often, and that which paths are likely. */
static void estimate_by_samples(struct function_code *c, double sample)
{
	own(flow_solve_finip) struct flow_solve flow = { 0 };

	best_case_schedule(c, true);
	frequency_estimate(c, sample, &flow);
	best_case_schedule(c, false);
	frequency_estimate(c, sample, &flow);
}

static bool may_estimate(const struct function_code *c)
{
	return c->time_column != FUNCTION_CODE_NONE && c->samples &&
	       c->count_column == FUNCTION_CODE_NONE && !c->has_no_counts;
}

/* The best case, and how often where that was not counted. */
static int expect(struct making *m, struct err *e)
{
	struct function_code *c = m->to;
	const struct function_index *index = m->o->index;
	own(anchoring_freep) struct anchoring *a = NULL;
	double sample = 0;
	int rc = 0;

	if (!c->model)
		return 0;
	if (may_estimate(c))
		sample = cycles_of(c, m->p->columns.at[c->time_column].period);
	if (sample > 0 && !index)
		rc = anchoring_new(m->p, &a, e);
	if (rc < 0)
		return rc;
	if (!(sample > 0) ||
	    estimate_anchored(m, index ? function_index_anchoring(index) : a))
		best_case_schedule(c, false);
	else
		estimate_by_samples(c, sample);
	frequency_bound(c, sample);
	return 0;
}

static void make_rows(struct function_code *c)
{
	const struct procedure *p = c->procedure;

	c->steps = xcalloc(p->n_steps + 1, sizeof(*c->steps));
	c->blocks = xcalloc(p->n_blocks + 1, sizeof(*c->blocks));
	c->ways = xcalloc(p->n_ways + 1, sizeof(*c->ways));
	access_places_init(&c->accesses, p->n_steps);
	for (uint32_t i = 0; i < p->n_steps; i++)
		c->steps[i].times = c->steps[i].ideal = UNKNOWN;
	for (uint32_t i = 0; i < p->n_blocks; i++)
		c->blocks[i] = (struct function_code_block){ .times = UNKNOWN,
							     .times_low = UNKNOWN,
							     .times_high = UNKNOWN,
							     .ideal = UNKNOWN };
	for (uint32_t i = 0; i < p->n_ways; i++)
		c->ways[i].times = c->ways[i].times_low = c->ways[i].times_high = UNKNOWN;
}

int function_code_make(struct function_code *ret, const struct profile *p,
		       uint32_t function, const struct function_code_options *o,
		       struct err *e)
{
	own(making_fini) struct making m = {
		.to = ret, .p = p, .f = &p->functions.at[function], .o = o
	};
	int rc;

	*ret = (struct function_code){ .times = UNKNOWN,
				       .times_low = UNKNOWN,
				       .times_high = UNKNOWN };
	rc = read_procedure(&m, e);
	if (rc < 0)
		return rc;
	make_rows(ret);
	if (o->index)
		function_index_listing(o->index, function, &m.listing);
	else
		listing_make(&m.listing, p, function);
	ret->delta = m.listing.code_delta;
	ret->has_delta = m.listing.has_code_delta;
	index_ways(&m);
	rc = read_operations(&m, e);
	if (rc < 0)
		return rc;
	take_samples(&m);
	take_heat(&m);
	take_retired(&m);
	miss_samples_take(&ret->misses, p, &m.listing.instructions, &m.step_at,
			  ret->procedure->n_steps);
	rc = take_directions(&m, e);
	if (rc == 0)
		rc = take_counts(&m, e);
	if (rc == 0)
		rc = choose_model(&m, e);
	if (rc == 0)
		rc = expect(&m, e);
	return rc;
}

int function_code_index(const struct profile *p, struct function_index **ret,
			struct err *e)
{
	size_t time = time_column_find(p, 0), count = find_count_column(p);
	own(function_index_freep) struct function_index *x = NULL;
	struct anchoring *a = NULL;
	int rc = function_index_new(
		p, time == FUNCTION_CODE_NONE ? MODEL_NONE : p->columns.at[time].source,
		count == FUNCTION_CODE_NONE ? MODEL_NONE : p->columns.at[count].source,
		&x, e);

	if (rc == 0 && count == FUNCTION_CODE_NONE)
		rc = anchoring_new(p, &a, e);
	if (rc < 0)
		return rc;
	function_index_take_anchoring(x, a);
	*ret = steal(&x);
	return 0;
}
