/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_programs.h"

#include <stdlib.h>

#include "analyze/profile_data.h"
#include "base/mem.h"

struct reading {
	struct anchor_programs *to;
	const struct profile *p;
	const struct recording *r;
	size_t column;
	struct map by_name; /* string ids of a program: its number */
};

void anchor_programs_fini(struct anchor_programs *a)
{
	vec_each(x, &a->at)
		vec_fini(&x->samples);
	vec_fini(&a->at);
	map_fini(&a->of_function);
	free(a->of_process);
}

uint64_t anchor_programs_function(uint32_t sym_image, uint64_t start)
{
	return hash_pair(start, sym_image);
}

static uint64_t key_of(uint32_t program, uint32_t sym_image, uint64_t start)
{
	return hash_pair(start, (uint64_t)sym_image << 32 | program);
}

static uint32_t program_of(struct reading *x, const struct model_process *process)
{
	uint32_t i = (uint32_t)(process - recording_process(x->r, 0)),
		 *of = &x->to->of_process[i];
	uint64_t *program;
	bool is_new;

	if (*of != ANCHOR_PROGRAMS_NONE)
		return *of;
	program = map_slot(&x->by_name,
			   process->exe ? process->exe : (uint64_t)process->comm << 32,
			   &is_new);
	if (is_new) {
		*program = x->to->at.n;
		*vec_push(&x->to->at) = (struct anchor_program){ 0 };
	}
	*of = (uint32_t)*program;
	x->to->at.at[*of].n_processes++;
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

/* Of several processes none: they are not in the order of one clock. */
static void keep(struct anchor_program *to, const struct profile_sample *s,
		 const struct profile_function *f)
{
	if (to->n_processes > 1) {
		vec_fini(&to->samples);
		return;
	}
	*vec_push(&to->samples) = (struct anchor_program_sample){
		.function = f ? anchor_programs_function(f->sym_image, f->start)
			      : ANCHOR_PROGRAMS_NONE,
		.time_ns = s->time_ns,
		.weight = s->weight,
		.count = s->count
	};
}

static int by_time(const void *a, const void *b)
{
	const struct anchor_program_sample *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int take_sample(void *ctx, const struct profile_sample *s, struct err *e)
{
	struct reading *x = ctx;
	const struct profile_function *f = innermost(x->p, s);
	uint32_t program;
	bool is_new;

	(void)e;
	if (s->column != x->column || !s->process)
		return 0;
	program = program_of(x, s->process);
	x->to->at.at[program].sampled_ns += (double)s->weight;
	keep(&x->to->at.at[program], s, f);
	if (f)
		*map_slot(&x->to->of_function, key_of(program, f->sym_image, f->start),
			  &is_new) += s->weight;
	return 0;
}

int anchor_programs_read(struct anchor_programs *ret, const struct profile *p,
			 size_t column, struct err *e)
{
	struct reading x = {
		.to = ret,
		.p = p,
		.r = p->sources[p->columns.at[column].source].recording,
		.column = column,
	};
	uint32_t n = recording_n_processes(x.r);
	int rc;

	ret->of_process = xcalloc(n + 1, sizeof(*ret->of_process));
	for (uint32_t i = 0; i < n; i++)
		ret->of_process[i] = ANCHOR_PROGRAMS_NONE;
	rc = profile_each_sample(p, take_sample, &x, e);
	map_fini(&x.by_name);
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
