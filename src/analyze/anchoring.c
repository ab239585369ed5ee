/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchoring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/anchor_leaders.h"
#include "analyze/anchor_programs.h"
#include "analyze/anchor_rows.h"
#include "analyze/anchor_scale.h"
#include "analyze/anchor_times.h"
#include "analyze/anchor_ways.h"
#include "analyze/profile_data.h"
#include "base/mem.h"
#include "insn/procedure.h"

/* Fewer do not tell by themselves how far they are off: as three that agree. */
#define TELLING_WINDOWS 3
#define LEAST_COUNTED	20 /* of a place, in windows ... */
#define LEAST_HITS	50 /* ... and natively */
/* Of what was sampled of a program's processes, that passes the filter: what it leaves
 * out is in windows all the same. */
#define LEAST_CHOSEN 0.9
/* Of the CPU time that was sampled, that the anchors are of. */
#define LEAST_PART 0.9
#define MOST_PART  1.1
/* The same of a program of several processes: those that end soon are never looked at. */
#define LEAST_PART_OF_SEVERAL 0.3
/* Of what was looked at: short runs have few samples, by chance more or less. */
#define MOST_UNSAMPLED 0.2
/* Of what was sampled of a function, that is of programs with anchors. */
#define LEAST_COVERED 0.5
/* Standard deviations for 19 of 20 cases. */
#define SURE 1.96
/* What no spread tells: places that are met make what is met slower, or processors are
 * not as fast near windows as elsewhere. */
#define UNTOLD	    0.03
#define UNTOLD_NEAR 0.05
/* Places that are off by no more than that, as they tell themselves, have a say. */
#define TELLING 0.3
/* Of what happened before anything was watched, nobody knows how often; if windows do not
 * stand for it. */
#define UNWATCHED 0.5

/* A program's. */
struct part {
	struct anchor_rows rows;
	struct anchor_leaders leaders;
	struct anchor_times times;
	bool tells;
	double factor;	 /* how many times what was looked at there was in all */
	double left_out; /* by the filter, though it may be in windows: a logarithm */
};

struct anchoring {
	struct anchor_programs programs;
	struct part *parts; /* of each program */
};

void anchoring_free(struct anchoring *a)
{
	if (!a)
		return;
	for (size_t i = 0; a->parts && i < a->programs.at.n; i++) {
		anchor_times_fini(&a->parts[i].times);
		anchor_leaders_fini(&a->parts[i].leaders);
		anchor_rows_fini(&a->parts[i].rows);
	}
	free(a->parts);
	anchor_programs_fini(&a->programs);
	free(a);
}

void anchoring_freep(struct anchoring **a)
{
	anchoring_free(*a);
}

/* In runs of which less was to be sampled than was looked at, as a pause has it: others
 * without anchors do not make up for that. */
static double unsampled_ns(const struct anchoring *a, uint32_t program)
{
	const struct anchor_rows *rows = &a->parts[program].rows;
	const struct anchor_program_part *parts = a->programs.at.at[program].in_runs;
	double sum = 0;

	for (size_t i = 0; i < rows->runs.n; i++)
		sum += fmax(0, rows->runs.at[i].native_ns - rows->runs.at[i].unseen_ns -
				       MOST_PART * a->programs.runs.at[i].most *
					       parts[i].all_ns);
	return sum;
}

/* Of a program, with what may not have been sampled of it. */
static double most_sampled_ns(const struct anchoring *a, uint32_t program)
{
	const struct anchor_program_part *parts = a->programs.at.at[program].in_runs;
	double sum = 0;

	for (size_t i = 0; i < a->programs.runs.n; i++)
		sum += parts[i].all_ns * a->programs.runs.at[i].most;
	return sum;
}

static bool is_enough(const struct anchoring *a, uint32_t number)
{
	const struct anchor_program *program = &a->programs.at.at[number];
	const struct anchor_rows *rows = &a->parts[number].rows;
	double least = program->n_processes > 1 ? LEAST_PART_OF_SEVERAL : LEAST_PART,
	       native_ns = rows->native_ns - rows->unseen_ns;

	return rows->n_windows && program->sampled_ns >= LEAST_CHOSEN * program->all_ns &&
	       native_ns <= MOST_PART * most_sampled_ns(a, number) &&
	       unsampled_ns(a, number) <= MOST_UNSAMPLED * rows->native_ns &&
	       native_ns >= least * fmax(1, program->all_ns);
}

/* How many times what was looked at there was in all: of both as much is lost. */
static double factor_of(const struct anchor_program *program,
			const struct anchor_rows *rows)
{
	return fmax(1, program->all_ns / fmax(1, rows->looked_ns));
}

/* Without knowing what windows stand for, one of a process tells nothing of another that
 * runs beside it; runs one after the other are as one that is longer. */
static void make_part(struct anchoring *all, uint32_t number)
{
	const struct anchor_program *program = &all->programs.at.at[number];
	bool are_several = program->n_processes > 1;
	struct part *a = &all->parts[number];

	a->factor = 1;
	if (!is_enough(all, number))
		return;
	anchor_leaders_make(&a->leaders, &a->rows, are_several);
	a->tells = !program->are_several || a->leaders.is_weighed;
	a->left_out = log(fmax(1, program->all_ns) / fmax(1, program->sampled_ns));
	if (a->leaders.is_weighed && program->samples.n)
		anchor_times_make(&a->times, program, &a->rows, &a->leaders);
	if (are_several)
		a->factor = factor_of(program, &a->rows);
}

static int read_parts(struct anchoring *a, const struct profile *p, struct err *e)
{
	int rc = anchor_programs_read(&a->programs, p, e);
	size_t n = a->programs.at.n;

	if (rc < 0)
		return rc;
	a->parts = xcalloc(n + 1, sizeof(*a->parts));
	struct anchor_rows *rows = xcalloc(n + 1, sizeof(*rows));

	rc = anchor_rows_read(rows, p, &a->programs, e);
	for (size_t i = 0; i < n; i++)
		a->parts[i].rows = rows[i];
	free(rows);
	return rc;
}

static int note_anchor(void *ctx, const struct model_anchor *x, struct err *e)
{
	(void)x;
	(void)e;
	*(bool *)ctx = true;
	return 0;
}

static int look_for_anchors(const struct profile *p, bool *ret, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < p->n_sources && !*ret && rc == 0; i++)
		rc = recording_each_anchor(p->sources[i].recording, note_anchor, ret, e);
	return rc;
}

int anchoring_new(const struct profile *p, struct anchoring **ret, struct err *e)
{
	own(anchoring_freep) struct anchoring *a = xcalloc(1, sizeof(*a));
	bool has_any = false, tells = false;
	int rc = look_for_anchors(p, &has_any, e);

	*ret = NULL;
	if (rc == 0 && has_any)
		rc = read_parts(a, p, e);
	for (uint32_t i = 0; i < a->programs.at.n && rc == 0; i++) {
		make_part(a, i);
		vec_fini(&a->programs.at.at[i].samples);
		tells |= a->parts[i].tells;
	}
	if (rc == 0 && tells)
		*ret = steal(&a);
	return rc;
}

static int count_window(void *ctx, const struct model_anchor *x, struct err *e)
{
	uint32_t *n = ctx;

	(void)e;
	if (x->size_bytes && x->window >= *n)
		*n = x->window + 1;
	return 0;
}

uint32_t anchoring_n_windows(const struct profile *p)
{
	uint32_t all = 0;

	for (size_t i = 0; i < p->n_sources; i++) {
		uint32_t n = 0;

		if (recording_each_anchor(p->sources[i].recording, count_window, &n,
					  NULL) == 0)
			all += n;
	}
	return all;
}

bool anchoring_was_tried(const struct profile *p)
{
	for (size_t i = 0; i < p->n_sources; i++) {
		const struct recording *r = p->sources[i].recording;

		for (uint32_t k = 0; k < recording_n_facts(r); k++)
			if (strcmp(recording_string(r, recording_fact(r, k)->name),
				   "windows") == 0)
				return true;
	}
	return anchoring_n_windows(p) > 0;
}

const char *anchoring_refusal(const struct profile *p)
{
	const char *why = NULL;

	for (size_t i = 0; i < p->n_sources && !why; i++)
		why = recording_info(p->sources[i].recording, "anchors-refused");
	return why;
}

/* Finding. */

/* [block * n_groups + group], by what windows stand for; and of each block as it was. */
struct counts {
	double *of, *counted;
	uint32_t n_groups;
};

/* What was executed as one may be several blocks here; what begins in one has its
 * rest only. */
static void add_row(const struct part *a, const struct procedure *p,
		    const struct anchor_rows_block *x, uint64_t address,
		    struct counts *to)
{
	uint32_t i = procedure_block_at(p, address),
		 group = anchor_leaders_group(&a->leaders, x->window);
	double times = (double)x->times;

	if (i == PROCEDURE_OUTSIDE)
		return;
	i += p->blocks[i].start < address;
	for (; i < p->n_blocks && p->blocks[i].start < address + x->size; i++) {
		to->of[(size_t)i * to->n_groups + group] +=
			times * a->rows.windows.at[x->window].weight;
		to->counted[i] += times;
	}
}

static void count_blocks(const struct part *a, uint32_t sym_image, uint64_t delta,
			 const struct procedure *p, struct counts *to)
{
	const struct procedure_block *last = &p->blocks[p->n_blocks - 1];
	size_t first = anchor_rows_find(&a->rows, sym_image, p->blocks[0].start - delta);

	for (size_t i = first; i < a->rows.blocks.n; i++) {
		const struct anchor_rows_block *x = &a->rows.blocks.at[i];

		if (x->sym_image != sym_image || x->offset + delta >= last->end)
			break;
		add_row(a, p, x, x->offset + delta, to);
	}
}

static void sum_instructions(const struct procedure *p, const struct counts *c,
			     double *ret)
{
	for (uint32_t i = 0; i < p->n_blocks; i++)
		for (uint32_t k = 0; k < c->n_groups; k++)
			ret[k] +=
				c->of[(size_t)i * c->n_groups + k] * p->blocks[i].n_steps;
}

/* A function: what it has in windows, and its own time. */
struct subject {
	const struct part *part;
	const double *counts;		   /* [group]: its instructions */
	const struct anchor_leader *times; /* ANCHOR_TIMES_LENGTHS; NULL: not known */
};

static size_t n_leaders_of(const struct subject *f)
{
	return f->part->leaders.at.n + (f->times ? ANCHOR_TIMES_LENGTHS : 0);
}

static const struct anchor_leader *leader_of(const struct subject *f, size_t i)
{
	size_t n = f->part->leaders.at.n;

	return i < n ? &f->part->leaders.at.at[i] : &f->times[i - n];
}

/* By one leader, a function's instructions. */
struct guess {
	struct anchor_scale scale;
	double log_times, variance;
	double price;  /* of having been chosen: of the variance */
	double missed; /* a variance: of what windows have not of the function */
};

static bool make_guess(const struct subject *f, const struct anchor_leader *l,
		       struct guess *ret)
{
	const struct anchor_leaders *leaders = &f->part->leaders;
	double sum;

	if (l->met < LEAST_COUNTED || l->hits < LEAST_HITS || l->variance == INFINITY)
		return false;
	ret->scale = (struct anchor_scale){
		.leader = l, .time = l->is_own_time ? NULL : anchor_leaders_time(leaders)
	};
	anchor_scale_fit(&ret->scale, f->counts, leaders->n_groups);
	ret->variance =
		anchor_scale_variance(&ret->scale, f->counts, leaders->n_groups, &sum) +
		anchor_scale_own_variance(&ret->scale);
	ret->log_times = log(sum) + anchor_scale_log(&ret->scale);
	ret->missed = 0;
	return ret->variance < INFINITY;
}

static double n_telling(const struct part *a)
{
	return fmax(a->leaders.n_groups, TELLING_WINDOWS);
}

/* And more where few windows tell the deviation itself: Student's, as Cornish and Fisher
 * expand it. */
static double sure(const struct part *a, double variance)
{
	double of_few = 1 / (n_telling(a) - 1);

	return (SURE + of_few * (2.37 + of_few * (2.82 + of_few * 2.56))) *
	       sqrt(variance);
}

/* Where places do not agree, they are further off than they tell: the program does other
 * things in windows than between them. */
static double disagreement(const struct subject *f, const struct guess *best)
{
	double most = 0;

	for (size_t i = 0; i < n_leaders_of(f); i++) {
		struct guess g;

		if (!make_guess(f, leader_of(f, i), &g) || g.variance > TELLING * TELLING)
			continue;
		most = fmax(most, fabs(g.log_times - best->log_times) -
					  sure(f->part, g.variance + best->variance));
	}
	return most;
}

/* By how much the least of some variances is less than one alone, by chance, if only few
 * windows tell each. */
static double price_of_choice(const struct part *a, double n_others)
{
	return pow(1 + fmax(n_others, 0) / 2, 2 / (n_telling(a) - 2));
}

/* Of all of the time windows tell what a function has in it only if they are taken where
 * it is as much of the time as elsewhere.  A variance, beyond what chance makes of it. */
static double missed_by_windows(const struct subject *f)
{
	const struct anchor_scale by_time = {
		.leader = anchor_leaders_time(&f->part->leaders), .slope = 1
	};
	double most = 0;

	for (int i = 0; f->times && i < ANCHOR_TIMES_LENGTHS; i++) {
		const struct anchor_leader *l = &f->times[i];
		double sum, by, chance;

		if (l->variance == INFINITY)
			continue;
		by = log(l->natively / l->all_counted);
		chance = sure(f->part,
			      l->variance + anchor_scale_variance(
						    &by_time, l->counted,
						    f->part->leaders.n_groups, &sum));
		most = fmax(most, by * by - chance * chance);
	}
	return most;
}

/* What windows miss of a function, by the time that it takes. */
struct missing {
	const struct anchor_leader *time; /* NULL: windows stand for none */
	double variance; /* of what goes with time as it does in windows */
	double missed;	 /* as that which goes with time alone */
};

/* A place that goes with the function in windows does so elsewhere, too: it misses as
 * little as is not told by it there. */
static double missed_by(const struct missing *m, const struct guess *g)
{
	if (!m->time || g->scale.leader->is_own_time)
		return 0;
	return m->missed * fmin(1, g->variance / m->variance);
}

static double doubt_of(const struct guess *g)
{
	return g->variance + g->missed;
}

/* Of places the best, with what having been chosen among them costs; of how many. */
static uint32_t choose_place(const struct subject *f, const struct missing *m,
			     struct guess *ret)
{
	uint32_t n = 0;
	struct guess g;

	vec_each(l, &f->part->leaders.at) {
		if (l == m->time || !make_guess(f, l, &g))
			continue;
		n++;
		g.missed = missed_by(m, &g);
		if (doubt_of(&g) < doubt_of(ret))
			*ret = g;
	}
	ret->price = price_of_choice(f->part, m->time ? n : n - 1.0);
	return n;
}

/* Its own time is chosen where it is better than the best of n others: these pay nothing
 * for that it is there. */
static void choose_own_time(const struct subject *f, uint32_t n, struct guess *best)
{
	double price = price_of_choice(f->part, n + ANCHOR_TIMES_LENGTHS);
	struct guess g;

	for (int i = 0; f->times && i < ANCHOR_TIMES_LENGTHS; i++) {
		if (!make_guess(f, &f->times[i], &g))
			continue;
		g.price = price;
		g.variance *= price;
		if (g.variance < doubt_of(best))
			*best = g;
	}
}

/* Time is chosen without a price: it is what there is where no place is. */
static bool make_best(const struct subject *f, struct guess *ret)
{
	struct missing m = { .time = anchor_leaders_time(&f->part->leaders) };
	struct guess of_time = { .variance = INFINITY };
	uint32_t n;

	*ret = (struct guess){ .variance = INFINITY };
	if (m.time && make_guess(f, m.time, &of_time))
		of_time.missed = m.missed = missed_by_windows(f);
	m.variance = of_time.variance;
	n = choose_place(f, &m, ret);
	if (of_time.variance < INFINITY &&
	    doubt_of(&of_time) <= doubt_of(ret) * ret->price) {
		*ret = of_time;
		ret->price = 1;
	}
	ret->variance *= ret->price;
	choose_own_time(f, n, ret);
	return ret->variance < INFINITY;
}

static double first_ns(const struct anchor_rows *rows)
{
	double sum = 0;

	vec_each(r, &rows->runs)
		sum += r->first_ns;
	return sum;
}

static double off_by(const struct part *a, double variance)
{
	double untold = a->leaders.is_weighed ? UNTOLD_NEAR : UNTOLD;
	double off = sure(a, variance + untold * untold / (SURE * SURE));

	if (a->leaders.is_supposed)
		off += ANCHOR_WINDOWS_SUPPOSED;
	if (!a->leaders.is_weighed)
		off += UNWATCHED * first_ns(&a->rows) / a->rows.native_ns;
	return off + a->left_out;
}

static void find_ways(const struct part *a, const struct anchor_ways_input *in,
		      struct anchoring_way *ret)
{
	const struct procedure *p = in->procedure;
	own(anchor_ways_fini) struct anchor_ways w = { 0 };

	anchor_ways_make(&w, in);
	for (uint32_t i = 0; i < p->n_ways; i++) {
		uint32_t from = p->ways[i].from;
		double variance;

		if (from == PROCEDURE_OUTSIDE || !w.are_told[from])
			continue;
		variance = anchor_ways_variance(&w, p, i);
		/* Of a single moment; what samples saw is of all of the time. */
		if (variance == INFINITY && a->leaders.n_groups < TELLING_WINDOWS)
			continue;
		ret[i] = (struct anchoring_way){ .is_told = true,
						 .share = anchor_ways_share(&w, p, i),
						 .off = fmin(sure(a, variance),
							     ANCHORING_UNSEEN) };
	}
}

/* Parts of it may be before its entry. */
static const struct anchor_leader *own_times(const struct part *a, uint32_t sym_image,
					     const struct procedure *p)
{
	uint32_t entry = p->entry == PROCEDURE_OUTSIDE ? 0 : p->entry;

	return anchor_times_find(&a->times, sym_image, p->blocks[entry].start);
}

static bool find_in_part(const struct part *a, uint32_t sym_image, uint64_t delta,
			 const struct procedure *p, struct anchoring_block *ret,
			 struct anchoring_way *ret_ways)
{
	own(freep) double *of =
		xcalloc((size_t)p->n_blocks * a->leaders.n_groups + 1, sizeof(*of));
	own(freep) double *counted = xcalloc(p->n_blocks + 1, sizeof(*counted));
	struct counts c = { of, counted, a->leaders.n_groups };
	double all[ANCHOR_LEADERS_GROUPS] = { 0 };
	struct guess best = { 0 };
	struct subject f = { a, all, own_times(a, sym_image, p) };
	double apart;

	count_blocks(a, sym_image, delta, p, &c);
	sum_instructions(p, &c, all);
	if (!make_best(&f, &best))
		return false;
	apart = disagreement(&f, &best);
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		double sum, variance = anchor_scale_variance(
				    &best.scale, of + (size_t)i * a->leaders.n_groups,
				    a->leaders.n_groups, &sum);

		if (sum <= 0)
			continue;
		ret[i].times = sum * exp(anchor_scale_log(&best.scale)) + counted[i];
		variance += anchor_scale_own_variance(&best.scale);
		ret[i].off = off_by(a, best.price * (variance + best.missed)) + apart;
	}
	find_ways(a,
		  &(struct anchor_ways_input){ .rows = &a->rows,
					       .leaders = &a->leaders,
					       .procedure = p,
					       .sym_image = sym_image,
					       .delta = delta,
					       .blocks = of },
		  ret_ways);
	return true;
}

/* All of the programs', off by what each is in its part. */
static void add_part(struct anchoring_block *to, const struct anchoring_block *of,
		     uint32_t n_blocks, double factor)
{
	for (uint32_t i = 0; i < n_blocks; i++) {
		double times = of[i].times * factor, sum = to[i].times + times;

		if (times <= 0)
			continue;
		to[i].off = (to[i].off * to[i].times + of[i].off * times) / sum;
		to[i].times = sum;
	}
}

/* By how much of a block's executions, which are there already, these are. */
static void add_ways(struct anchoring_way *to, const struct anchoring_way *of,
		     const struct anchoring_block *all,
		     const struct anchoring_block *blocks, double factor,
		     const struct procedure *p)
{
	for (uint32_t i = 0; i < p->n_ways; i++) {
		uint32_t from = p->ways[i].from;
		double part = 1;

		if (!of[i].is_told)
			continue;
		if (to[i].is_told)
			part = blocks[from].times * factor / fmax(1, all[from].times);
		to[i].is_told = true;
		to[i].share += part * (of[i].share - to[i].share);
		to[i].off += part * (of[i].off - to[i].off);
	}
}

/* In programs without anchors it is executed as often for its time as in the others. */
static void cover_all(struct anchoring_block *blocks, uint32_t n_blocks, double covered)
{
	for (uint32_t i = 0; i < n_blocks; i++) {
		if (blocks[i].times <= 0)
			continue;
		blocks[i].times /= covered;
		blocks[i].off -= log(covered);
	}
}

/* Of each program, what was sampled of the function; in all where it has no samples. */
static double *weigh_programs(const struct anchoring *a, uint32_t sym_image,
			      uint64_t start, double *ret_all)
{
	size_t n = a->programs.at.n;
	double *weights = xcalloc(n + 1, sizeof(*weights));

	*ret_all = 0;
	for (uint32_t i = 0; i < n; i++) {
		weights[i] = anchor_programs_in(&a->programs, i, sym_image, start);
		*ret_all += weights[i];
	}
	if (*ret_all > 0)
		return weights;
	for (uint32_t i = 0; i < n; i++) {
		weights[i] = a->programs.at.at[i].sampled_ns;
		*ret_all += weights[i];
	}
	return weights;
}

uint32_t anchoring_find(const struct anchoring *a, uint32_t sym_image, uint64_t delta,
			const struct procedure *p, struct anchoring_block *ret_blocks,
			struct anchoring_way *ret_ways)
{
	own(freep) double *weights = NULL;
	double all, told = 0;
	uint32_t n_windows = 0;

	if (!p->n_blocks)
		return 0;
	weights = weigh_programs(a, sym_image, p->blocks[0].start, &all);
	for (uint32_t i = 0; i < a->programs.at.n; i++) {
		own(freep) struct anchoring_block *blocks =
			xcalloc(p->n_blocks, sizeof(*blocks));
		own(freep) struct anchoring_way *ways =
			xcalloc(p->n_ways + 1, sizeof(*ways));
		const struct part *part = &a->parts[i];

		if (!part->tells ||
		    !find_in_part(part, sym_image, delta, p, blocks, ways))
			continue;
		told += weights[i];
		n_windows += part->rows.n_windows;
		add_part(ret_blocks, blocks, p->n_blocks, part->factor);
		add_ways(ret_ways, ways, ret_blocks, blocks, part->factor, p);
	}
	if (told <= 0 || told < LEAST_COVERED * all)
		return 0;
	cover_all(ret_blocks, p->n_blocks, told / all);
	return n_windows;
}
