/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_programs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/profile_data.h"
#include "analyze/quality.h"
#include "analyze/stream.h"
#include "analyze/time_column.h"
#include "base/mem.h"

#define TICK_MOST_NS 1e7 /* of kernels with a hundred in a second */

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
	vec_each(r, &a->runs) {
		free(r->of_process);
		free(r->all_of);
	}
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

static uint32_t number_of(const struct reading *x, uint32_t run,
			  const struct model_process *process)
{
	const struct input *source = &x->p->sources[x->to->runs.at[run].source];

	return (uint32_t)(process - recording_process(source->recording, 0));
}

static uint32_t program_of(struct reading *x, uint32_t run_number,
			   const struct model_process *process)
{
	const struct anchor_run *run = &x->to->runs.at[run_number];
	uint32_t *of = &run->of_process[number_of(x, run_number, process)];
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

/* Whatever the filter; of a process with samples that pass it. */
static void add_all(struct anchor_programs *to, uint32_t run_number, uint32_t process,
		    double weight)
{
	const struct anchor_run *run = &to->runs.at[run_number];
	struct anchor_program *program;

	if (run->of_process[process] == ANCHOR_PROGRAMS_NONE)
		return;
	program = &to->at.at[run->of_process[process]];
	program->all_ns += weight;
	program->in_runs[run_number].all_ns += weight;
	run->all_of[process] += weight;
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
	if (!profile_is_filtered(x->p))
		add_all(x->to, (uint32_t)*run, number_of(x, (uint32_t)*run, s->process),
			(double)s->weight);
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
	*vec_push(&x->to->runs) =
		(struct anchor_run){ .source = source,
				     .of_process = of_process,
				     .all_of = xcalloc(n + 1, sizeof(double)) };
}

/* Of samples that a filter leaves out, too. */
struct taking {
	struct anchor_programs *to;
	const struct input *source;
	uint32_t run, column; /* column: of the source */
	double sum_ns;	      /* of all processes */
};

static int take_all(void *ctx, const struct sample_block *b, const uint8_t *keep unused,
		    struct err *e unused)
{
	struct taking *x = ctx;

	for (size_t i = 0; i < b->n; i++) {
		const struct model_thread *thread =
			recording_thread(x->source->recording, b->thread[i]);

		if (x->source->column_of_event[b->event[i]] != x->column)
			continue;
		x->sum_ns += (double)b->weight[i];
		if (thread)
			add_all(x->to, x->run, thread->process, (double)b->weight[i]);
	}
	return 0;
}

/* While samples are throttled, which is until the next tick, their clock stands. */
static double throttled_ns(const struct recording *r)
{
	uint64_t n = 0;

	recording_find_fact(r, FACT_LOSS, "throttled", MODEL_NONE, MODEL_NONE, &n);
	return (double)n * TICK_MOST_NS;
}

/* More samples may have been due than came, where a sample is not of several intervals
 * anyway. */
static double most_of(const struct recording *r, const struct profile_column *column,
		      double sum_ns)
{
	struct quality_rate rate = quality_rate_of(r, column->event);
	double each_ns = (double)rate.asked_ns,
	       came_ns = fmax((double)rate.delivered * each_ns, sum_ns);

	if (came_ns <= 0)
		return 1;
	return fmax(1, ((double)rate.expected * each_ns + throttled_ns(r)) / came_ns);
}

static int measure_run(struct anchor_programs *to, const struct profile *p, size_t column,
		       uint32_t run, struct err *e)
{
	const struct profile_column *c = &p->columns.at[column];
	/* Blocks that cannot be read are counted already: into a copy. */
	struct input source = p->sources[c->source];
	struct taking x = { .to = to,
			    .source = &source,
			    .run = run,
			    .column = (uint32_t)column - source.first_column,
			    .sum_ns = (double)c->total_weight };
	int rc = 0;

	if (profile_is_filtered(p)) {
		x.sum_ns = 0;
		rc = stream_samples(&source, NULL,
				    SAMPLE_EVENT | SAMPLE_THREAD | SAMPLE_WEIGHT,
				    take_all, &x, e);
	}
	if (rc == 0)
		to->runs.at[run].most = most_of(source.recording, c, x.sum_ns);
	return rc;
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
	for (size_t i = 0; i < p->columns.n && rc == 0; i++) {
		const uint64_t *run = map_find(&x.run_of, i);

		if (run)
			rc = measure_run(ret, p, i, (uint32_t)*run, e);
	}
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
