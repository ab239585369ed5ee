/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_programs.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/profile_data.h"
#include "analyze/time_column.h"
#include "base/mem.h"

struct reading {
	struct anchor_programs *to;
	const struct profile *p;
	struct map run_of;  /* column: run */
	struct map by_name; /* what a program is called: its number */
};

void anchor_programs_fini(struct anchor_programs *a)
{
	vec_each(x, &a->at) {
		free(x->in_runs);
		vec_fini(&x->samples);
	}
	vec_each(r, &a->runs)
		free(r->of_process);
	vec_fini(&a->runs);
	vec_fini(&a->at);
	map_fini(&a->of_function);
}

static void reading_fini(struct reading *x)
{
	map_fini(&x->run_of);
	map_fini(&x->by_name);
}

uint64_t anchor_programs_function(uint32_t sym_image, uint64_t start)
{
	return hash_pair(start, sym_image);
}

static uint64_t key_of(uint32_t program, uint32_t sym_image, uint64_t start)
{
	return hash_pair(start, (uint64_t)sym_image << 32 | program);
}

/* What was built anew since another run is another program. */
static uint64_t name_of(const struct reading *x, const struct anchor_run *run,
			const struct model_process *process)
{
	const struct recording *r = x->p->sources[run->source].recording;
	uint32_t n = recording_n_images(r);
	const char *comm;

	for (uint32_t i = 0; process->exe && i < n; i++)
		if (recording_image(r, i)->path == process->exe)
			return profile_sym_image(x->p, run->source, i);
	comm = recording_string(r, process->exe ? process->exe : process->comm);
	return hash_bytes(comm, strlen(comm));
}

static uint32_t program_of(struct reading *x, uint32_t run_number,
			   const struct model_process *process)
{
	const struct anchor_run *run = &x->to->runs.at[run_number];
	const struct recording *r = x->p->sources[run->source].recording;
	uint32_t *of = &run->of_process[process - recording_process(r, 0)];
	struct anchor_program_part *part;
	struct anchor_program *program;
	uint64_t *number;
	bool is_new;

	if (*of != ANCHOR_PROGRAMS_NONE)
		return *of;
	number = map_slot(&x->by_name, name_of(x, run, process), &is_new);
	if (is_new) {
		*number = x->to->at.n;
		*vec_push(&x->to->at) =
			(struct anchor_program){ .in_runs = xcalloc(x->to->runs.n,
								    sizeof(*part)) };
	}
	*of = (uint32_t)*number;
	program = &x->to->at.at[*of];
	part = &program->in_runs[run_number];
	program->n_processes++;
	program->n_runs += !part->n_processes++;
	program->are_several |= part->n_processes > 1;
	return *of;
}

/* What is inlined is of the function whose code it is in. */
static const struct profile_function *innermost(const struct profile *p,
						const struct profile_sample *s)
{
	size_t i = s->n_frames;

	while (i-- > 0)
		if (!s->frames[i].is_inlined)
			return &p->functions.at[s->frames[i].function];
	return NULL;
}

static void keep(struct anchor_program *to, uint32_t run, const struct profile_sample *s,
		 const struct profile_function *f)
{
	if (to->are_several) {
		vec_fini(&to->samples);
		return;
	}
	*vec_push(&to->samples) = (struct anchor_program_sample){
		.function = f ? anchor_programs_function(f->sym_image, f->start)
			      : ANCHOR_PROGRAMS_NONE,
		.time_ns = s->time_ns,
		.weight = s->weight,
		.count = s->count,
		.run = run
	};
}

static int by_time(const void *a, const void *b)
{
	const struct anchor_program_sample *x = a, *y = b;

	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int take_sample(void *ctx, const struct profile_sample *s, struct err *e)
{
	struct reading *x = ctx;
	const uint64_t *run = map_find(&x->run_of, s->column);
	const struct profile_function *f;
	struct anchor_program *program;
	uint32_t number;
	bool is_new;

	(void)e;
	if (!run || !s->process)
		return 0;
	f = innermost(x->p, s);
	number = program_of(x, (uint32_t)*run, s->process);
	program = &x->to->at.at[number];
	program->sampled_ns += (double)s->weight;
	program->in_runs[*run].sampled_ns += (double)s->weight;
	keep(program, (uint32_t)*run, s, f);
	if (f)
		*map_slot(&x->to->of_function, key_of(number, f->sym_image, f->start),
			  &is_new) += s->weight;
	return 0;
}

static void add_run(struct reading *x, size_t column)
{
	uint32_t source = x->p->columns.at[column].source,
		 n = recording_n_processes(x->p->sources[source].recording);
	uint32_t *of_process = xcalloc(n + 1, sizeof(*of_process));
	bool is_new;

	for (uint32_t i = 0; i < n; i++)
		of_process[i] = ANCHOR_PROGRAMS_NONE;
	*map_slot(&x->run_of, column, &is_new) = x->to->runs.n;
	*vec_push(&x->to->runs) = (struct anchor_run){ source, of_process };
}

int anchor_programs_read(struct anchor_programs *ret, const struct profile *p,
			 struct err *e)
{
	own(reading_fini) struct reading x = { .to = ret, .p = p };
	int rc;

	for (size_t i = time_column_find(p, 0); i != TIME_COLUMN_NONE;
	     i = time_column_find(p, i + 1))
		if (!time_column_is_cycles(p, i))
			add_run(&x, i);
	rc = profile_each_sample(p, take_sample, &x, e);
	vec_each(a, &ret->at)
		if (a->samples.n)
			qsort(a->samples.at, a->samples.n, sizeof(*a->samples.at),
			      by_time);
	return rc;
}

double anchor_programs_in(const struct anchor_programs *a, uint32_t program,
			  uint32_t sym_image, uint64_t start)
{
	const uint64_t *weight =
		map_find(&a->of_function, key_of(program, sym_image, start));

	return weight ? (double)*weight : 0;
}
