/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/ideal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/ideal_path.h"
#include "analyze/machine_choice.h"
#include "base/mem.h"

struct measuring {
	struct profile *p;
	struct input *s;
	const struct machine_model *model;
	const struct block_graph *graph;
	double clock_ghz;
	struct block_code code;
	uint32_t *function_of;	/* [block] */
	struct map location_at; /* image and offset: location */
	/* [location]: of the blocks that it is in. */
	double *cycles, *times;
};

static void measuring_fini(struct measuring *m)
{
	block_code_fini(&m->code);
	map_fini(&m->location_at);
	free(m->function_of);
	free(m->cycles);
	free(m->times);
}

bool ideal_is_possible(const struct recording *r)
{
	return recording_n_basic_blocks(r) && input_counted_event(r) != MODEL_NONE;
}

static bool is_wanted(const struct profile_options *o)
{
	bool is_named = o->events && o->events[0];

	return is_named ? profile_wants_event(o, IDEAL_NAME) : o->is_worked_out;
}

void ideal_add_column(struct profile *p, uint32_t source, const struct profile_options *o)
{
	struct input *s = &p->sources[source];
	const struct recording *r = s->recording;
	uint32_t event = input_counted_event(r);

	s->ideal_column = MODEL_NONE;
	if (!ideal_is_possible(r) || !is_wanted(o))
		return;
	s->ideal_column = s->n_columns++;
	s->counted_event = event;
	*vec_push(&p->columns) = (struct profile_column){
		.source = source,
		.event = MODEL_NONE,
		.source_event = event,
		.whole = MODEL_NONE,
		.name = IDEAL_NAME,
		.unit = "ns",
		.experiment = recording_string(r, recording_event(r, event)->experiment),
		.collected_by = "",
	};
}

bool ideal_is_shown(const struct input *s)
{
	return s->ideal_column != MODEL_NONE;
}

int ideal_check_options(const struct profile *p, const struct profile_options *o,
			struct err *e)
{
	bool is_possible = false;

	if ((!o->model && o->clock_ghz <= 0) || o->is_for_code)
		return 0;
	for (size_t i = 0; i < p->n_sources; i++) {
		if (ideal_is_shown(&p->sources[i]))
			return 0;
		is_possible |= ideal_is_possible(p->sources[i].recording);
	}
	return err_set(e, ERR_USAGE, "--model and --clock are about ideal time: %s",
		       is_possible ? "name it with --event " IDEAL_NAME
				   : "record with 'dwell run -e bbcounts'");
}

/* Measuring. */

static void find_functions(struct measuring *m)
{
	const struct input *s = m->s;

	m->function_of = xcalloc(m->graph->blocks.n + 1, sizeof(*m->function_of));
	for (size_t i = 0; i < m->graph->blocks.n; i++) {
		uint32_t location = m->graph->blocks.at[i].location;
		const struct profile_frame *outermost =
			&m->p->frames.at[s->first_frame[location]];

		m->function_of[i] =
			s->n_frames[location] ? outermost->own_function : MODEL_NONE;
	}
}

static void index_locations(struct measuring *m)
{
	for (uint32_t i = 0; i < m->s->n_locations; i++) {
		const struct model_location *l = &m->s->locations[i];

		if (!l->flags)
			*map_slot(&m->location_at, hash_pair(l->image, l->offset), NULL) =
				i;
	}
}

static void take_block(struct measuring *m, uint32_t block, const double *cycles)
{
	const struct block_graph_block *b = &m->graph->blocks.at[block];
	const struct model_location *l = &m->s->locations[b->location];
	uint64_t off = l->offset;

	for (uint32_t k = 0; k < m->code.n[block]; k++) {
		const uint64_t *at = map_find(&m->location_at, hash_pair(l->image, off));

		if (at) {
			m->cycles[*at] += cycles[k] * (double)b->times;
			m->times[*at] += (double)b->times;
		}
		off += m->code.operations.at[m->code.first[block] + k].size;
	}
}

static double sum_of(const double *cycles, const struct block_code *c, uint32_t block)
{
	double sum = 0;

	for (uint32_t i = 0; i < c->n[block]; i++)
		sum += cycles[c->first[block] + i];
	return c->n[block] ? sum : -1;
}

static void schedule_blocks(struct measuring *m)
{
	own(freep) double *cycles = xcalloc(m->code.operations.n + 1, sizeof(*cycles));

	ideal_path_measure(m->graph, &m->code, m->s, m->function_of, m->model, cycles);
	m->s->block_cycles = xcalloc(m->graph->blocks.n + 1, sizeof(double));
	for (uint32_t i = 0; i < m->graph->blocks.n; i++) {
		take_block(m, i, cycles + m->code.first[i]);
		m->s->block_cycles[i] = sum_of(cycles, &m->code, i);
	}
}

static void set_factors(struct measuring *m)
{
	m->s->ideal_factors = xcalloc(m->s->n_locations + 1, sizeof(double));
	for (uint32_t i = 0; i < m->s->n_locations; i++)
		if (m->times[i] > 0)
			m->s->ideal_factors[i] =
				m->cycles[i] / m->times[i] / m->clock_ghz;
}

static void tell_how(struct measuring *m)
{
	struct profile_column *c =
		&m->p->columns.at[m->s->first_column + m->s->ideal_column];
	bool is_nearest = machine_choice_is_nearest(m->s->recording, m->model);
	own(freep) char *text =
		xasprintf("%s%s at %.4g GHz", m->model->name,
			  is_nearest ? ", the nearest," : "", m->clock_ghz);

	c->collected_by = arena_strdup(&m->p->strings, text);
}

static void count_missing(struct measuring *m)
{
	double total = 0, missing = 0;

	for (size_t i = 0; i < m->graph->blocks.n; i++) {
		const struct block_graph_block *b = &m->graph->blocks.at[i];
		double n = (double)b->times * b->n_instructions;

		total += n;
		if (!m->code.n[i])
			missing += n;
	}
	m->s->ideal_missing = total > 0 ? missing / total : 0;
}

int ideal_measure(struct profile *p, uint32_t source, const struct profile_options *o,
		  struct err *e)
{
	struct input *s = &p->sources[source];
	own(measuring_fini) struct measuring m = { .p = p, .s = s };
	int rc = machine_choice_model(s->recording, EM_X86_64, o->model, &m.model, e);

	if (rc == 0)
		rc = input_block_graph(s, &m.graph, e);
	if (rc < 0)
		return rc;
	m.clock_ghz = machine_choice_clock_ghz(s->recording, o->clock_ghz);
	rc = block_code_read(&m.code, p, s, source, m.graph, e);
	if (rc < 0)
		return rc;
	m.cycles = xcalloc(s->n_locations + 1, sizeof(*m.cycles));
	m.times = xcalloc(s->n_locations + 1, sizeof(*m.times));
	find_functions(&m);
	index_locations(&m);
	schedule_blocks(&m);
	set_factors(&m);
	count_missing(&m);
	tell_how(&m);
	return 0;
}
