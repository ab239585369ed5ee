/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/path_cost.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

#define MAX_STEPS 2048 /* blocks of a path, which may be without code */

/* How carefully blocks are looked at: by what a block makes up of all instructions
 * executed.  Of many that make up little each, errors by chance even out, but not those
 * of a processor that has still little to do, where all seems slower. */
static const struct care {
	double least; /* share */
	unsigned n_visits;
	unsigned lead; /* instructions of a path that do not count */
} cares[] = { { 1e-4, 12, 80 }, { 1e-5, 4, 160 }, { 0, 1, 160 } };

#define N_CARES (sizeof(cares) / sizeof(cares[0]))

/* Only those that are executed least, and make up no more together, get short paths. */
#define RARE_SHARE 0.001
#define PATH	   320 /* instructions */
#define RARE_PATH  48
#define RARE_LEAD  12

#define RECENT 1024 /* steps: more than are under way */

/* How much of what an operation waited was for the one that is named now, less what was
 * for others: the one that has the most part of it is found in one pass. */
struct vote {
	double lead, all; /* cycles */
};

struct measuring {
	const struct path_cost *c;
	struct schedule *schedule;
	uint32_t *visits;   /* [block]: scheduled so often */
	VEC(uint32_t) path; /* blocks, the last one first */
	uint64_t n_steps;
	uint32_t recent[RECENT]; /* operations */
	struct vote *votes;	 /* [operation], or NULL */
	struct path_cost_chance chance;
};

static void measuring_fini(struct measuring *m)
{
	schedule_free(m->schedule);
	vec_fini(&m->path);
	free(m->visits);
	free(m->votes);
}

uint64_t path_cost_choose(struct path_cost_chance *c, uint64_t n)
{
	c->state = c->state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint64_t)(((unsigned __int128)hash_u64(c->state) * n) >> 64);
}

static void lay_path(struct measuring *m, uint32_t block, unsigned limit)
{
	const struct path_cost *c = m->c;
	unsigned n = 0;

	m->path.n = 0;
	if (c->begin)
		c->begin(c->ctx);
	while (block != PATH_COST_NONE && n < limit && m->path.n < MAX_STEPS) {
		*vec_push(&m->path) = block;
		n += c->n[block];
		block = c->before(c->ctx, block, &m->chance);
	}
}

static void vote(struct measuring *m, uint32_t operation, double cycles)
{
	uint64_t back = schedule_waited_for(m->schedule);
	uint32_t *named = &m->c->waits_for[operation];
	struct vote *v = &m->votes[operation];
	uint32_t of;

	v->all += cycles;
	if (!back || back >= RECENT || cycles <= 0)
		return;
	of = m->recent[(m->n_steps - back) % RECENT];
	if (*named == of) {
		v->lead += cycles;
	} else if (v->lead >= cycles) {
		v->lead -= cycles;
	} else {
		*named = of;
		v->lead = cycles - v->lead;
	}
}

static void note(struct measuring *m, uint32_t operation, double cycles)
{
	m->c->cycles[operation] += cycles;
	if (m->c->waits)
		schedule_add_waits(m->schedule, m->c->waits[operation]);
	if (m->votes)
		vote(m, operation, cycles);
}

/* When the last instruction is done. */
static double pass(struct measuring *m, uint32_t block, bool is_taken, double left,
		   bool counts)
{
	uint32_t first = m->c->first[block], n = m->c->n[block];

	for (uint32_t i = 0; i < n; i++) {
		const struct operation *o = &m->c->operations[first + i];
		double now = schedule_step(m->schedule, o, is_taken && i + 1 == n);

		m->recent[++m->n_steps % RECENT] = first + i;
		if (counts)
			note(m, first + i, now - left);
		if (operation_is_call(o))
			schedule_hand_over(m->schedule, m->c->changed_by_calls);
		left = now;
	}
	return left;
}

/* The first part does not count: the processor has still little to do. */
static void schedule_path(struct measuring *m, unsigned lead)
{
	const struct path_cost *c = m->c;
	uint32_t n_before = 0;
	double left = 0;

	schedule_restart(m->schedule);
	for (size_t i = m->path.n; i-- > 0;) {
		uint32_t block = m->path.at[i];
		bool is_taken = i && c->is_jump(c->ctx, block, m->path.at[i - 1]);
		bool counts = i == 0 || n_before > lead;

		left = pass(m, block, is_taken, left, counts);
		if (i && c->is_apart && c->is_apart(c->ctx, block, m->path.at[i - 1]))
			schedule_hand_over(m->schedule, ~(operation_registers)0);
		m->visits[block] += counts;
		n_before += c->n[block];
	}
}

struct place {
	double heat;
	uint32_t block;
};

static int by_heat(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->heat != y->heat ? (x->heat < y->heat ? 1 : -1)
				  : (x->block > y->block) - (x->block < y->block);
}

static bool is_for(const struct care *c, const struct path_cost *of, double share)
{
	return share >= c->least && (!of->most_visits || c->n_visits <= of->most_visits);
}

/* Hot blocks first: their paths visit others, too. */
static void visit_all(struct measuring *m)
{
	size_t n = m->c->n_blocks;
	own(freep) struct place *places = xcalloc(n + 1, sizeof(*places));
	const struct care *care = cares;
	double total = 0, sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		places[i] = (struct place){ m->c->heat[i], i };
		total += m->c->heat[i];
	}
	qsort(places, n, sizeof(*places), by_heat);
	for (size_t i = 0; i < n; sum += places[i++].heat) {
		uint32_t block = places[i].block;
		bool is_rare = m->c->is_draft || sum >= (1 - RARE_SHARE) * total;

		while (care < cares + N_CARES - 1 &&
		       !is_for(care, m->c, total > 0 ? places[i].heat / total : 1))
			care++;
		m->chance.state = block;
		while (m->c->n[block] &&
		       m->visits[block] < (m->c->is_draft ? 1 : care->n_visits)) {
			lay_path(m, block, is_rare ? RARE_PATH : PATH);
			schedule_path(m, is_rare ? RARE_LEAD : care->lead);
		}
	}
}

static void take_means(struct measuring *m)
{
	const struct path_cost *c = m->c;

	for (uint32_t i = 0; i < c->n_blocks; i++)
		for (uint32_t k = c->first[i]; k < c->first[i] + c->n[i]; k++) {
			c->cycles[k] /= m->visits[i];
			for (unsigned w = 0; c->waits && w < SCHEDULE_N_WAITS; w++)
				c->waits[k][w] /= m->visits[i];
		}
}

static uint32_t n_operations(const struct path_cost *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_blocks; i++)
		n = c->first[i] + c->n[i] > n ? c->first[i] + c->n[i] : n;
	return n;
}

static void begin_votes(struct measuring *m)
{
	uint32_t n = n_operations(m->c);

	m->votes = xcalloc(n + 1, sizeof(*m->votes));
	for (uint32_t i = 0; i < n; i++)
		m->c->waits_for[i] = PATH_COST_NONE;
}

/* Who has no third for sure is one of many. */
static void end_votes(struct measuring *m)
{
	uint32_t n = n_operations(m->c);

	for (uint32_t i = 0; i < n; i++)
		if (m->votes[i].lead < m->votes[i].all / 3)
			m->c->waits_for[i] = PATH_COST_NONE;
}

void path_cost_measure(const struct path_cost *c, const struct machine_model *model)
{
	own(measuring_fini) struct measuring m = { .c = c,
						   .schedule = schedule_new(model) };

	m.visits = xcalloc(c->n_blocks + 1, sizeof(*m.visits));
	if (c->waits_for)
		begin_votes(&m);
	visit_all(&m);
	take_means(&m);
	if (c->waits_for)
		end_votes(&m);
}
