/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/flow_solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/own.h"
#include "base/vec.h"
#include "insn/flow_chain.h"

#define MAX_ROUNDS 24
#define MAX_TURNS  40	/* of the inner search */
#define ENOUGH	   1e-5 /* a round that gains less, of what is left, is the last */
/* Of the shares that were seen: they err by more than chance. */
#define SEEN_DOUBT 0.1
#define UNSEEN	   6.0 /* the same where nothing was seen: anything may be */
#define UNLIKELY   4.0 /* ... though one way is likelier */
/* So many passages each block has beside those that were seen, shared out evenly: most
 * branches mostly go one way, so that one passage tells much. */
#define BEFORE	  0.1
#define RARE	  0.02 /* the share expected of ways that may not be there */
#define LONGER	  0.6  /* the weight of what takes longer than expected */
#define FAR	  2.0  /* in standard deviations: from here on not by its square */
#define MAX_LOGIT 40.0
#define LEAST	  1e-30 /* of times and costs; and one by it is the most */

/* Edges: the ways, then those that may be there. */
struct edge {
	uint32_t from, to; /* blocks, the last one is outside */
	double seen, likely;
	double log_share, expected, doubt; /* of its share's logarithm */
	double share;
	bool is_unknown;
};

struct solving {
	const struct flow_solve_problem *p;
	uint32_t n; /* blocks */
	VEC(struct edge) edges;
	uint32_t *first; /* [block + 1]: of its edges, which are in order */
	struct flow_chain *chain;
	double scale;	       /* logarithm of how often it is come from outside */
	double *flow;	       /* [block] */
	double *error, *slope; /* [block], then [edge]: and of that by the logarithm */
};

static void solving_fini(struct solving *s)
{
	vec_fini(&s->edges);
	flow_chain_free(s->chain);
	free(s->first);
	free(s->flow);
	free(s->error);
	free(s->slope);
}

/* The graph. */

static void add_edge(struct solving *s, uint32_t from, uint32_t to, double seen,
		     bool is_unknown)
{
	*vec_push(&s->edges) =
		(struct edge){ .from = from == FLOW_SOLVE_OUTSIDE ? s->n : from,
			       .to = to == FLOW_SOLVE_OUTSIDE ? s->n : to,
			       .seen = isfinite(seen) && seen > 0 ? seen : 0,
			       .is_unknown = is_unknown };
}

static void add_way(struct solving *s, const struct flow_solve_way *w)
{
	add_edge(s, w->from, w->to, w->seen, false);
	if (w->likely > 0 && w->likely < 1)
		s->edges.at[s->edges.n - 1].likely = w->likely;
}

/* Marks what a block leads to (or what leads to it), by edges that are sorted by that
 * end. */
struct reaching {
	uint32_t *first, *at, *stack; /* edges by their other end */
	bool *reached;
	bool is_backwards;
};

static uint32_t end_of(const struct edge *e, bool is_backwards)
{
	return is_backwards ? e->to : e->from;
}

static void index_edges(const struct solving *s, struct reaching *r)
{
	r->first = xcalloc((size_t)s->n + 3, sizeof(*r->first));
	r->at = xcalloc(s->edges.n + 1, sizeof(*r->at));
	r->stack = xcalloc((size_t)s->n + 2, sizeof(*r->stack));
	r->reached = xcalloc((size_t)s->n + 2, sizeof(*r->reached));
	vec_each(e, &s->edges)
		r->first[end_of(e, r->is_backwards) + 2]++;
	for (uint32_t i = 2; i < s->n + 3; i++)
		r->first[i] += r->first[i - 1];
	for (uint32_t i = 0; i < s->edges.n; i++)
		r->at[r->first[end_of(&s->edges.at[i], r->is_backwards) + 1]++] = i;
}

static void reaching_fini(struct reaching *r)
{
	free(r->first);
	free(r->at);
	free(r->stack);
	free(r->reached);
}

static void reach(const struct solving *s, struct reaching *r, uint32_t place)
{
	uint32_t n = 0;

	r->reached[place] = true;
	r->stack[n++] = place;
	while (n) {
		uint32_t from = r->stack[--n];

		for (uint32_t i = r->first[from]; i < r->first[from + 1]; i++) {
			uint32_t to = end_of(&s->edges.at[r->at[i]], !r->is_backwards);

			if (r->reached[to])
				continue;
			r->reached[to] = true;
			r->stack[n++] = to;
		}
	}
}

/* To each block that nothing leads to from outside, and from each that leads nowhere. */
static void close_graph(struct solving *s, bool is_backwards)
{
	struct reaching r = { .is_backwards = is_backwards };

	index_edges(s, &r);
	reach(s, &r, s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		if (r.reached[i])
			continue;
		if (is_backwards)
			add_edge(s, i, s->n, 0, true);
		else
			add_edge(s, s->n, i, 0, true);
		reach(s, &r, i);
	}
	reaching_fini(&r);
}

static void sort_edges(struct solving *s)
{
	struct reaching r = { 0 };
	struct edge *sorted = xcalloc(s->edges.n + 1, sizeof(*sorted));

	index_edges(s, &r);
	for (uint32_t i = 0; i < s->edges.n; i++)
		sorted[i] = s->edges.at[r.at[i]];
	memcpy(s->edges.at, sorted, s->edges.n * sizeof(*sorted));
	free(sorted);
	s->first = r.first;
	r.first = NULL;
	reaching_fini(&r);
}

static void build(struct solving *s)
{
	const struct flow_solve_problem *p = s->p;

	for (uint32_t i = 0; i < p->n_ways; i++)
		add_way(s, &p->ways[i]);
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		if (p->blocks[i].is_open_in)
			add_edge(s, FLOW_SOLVE_OUTSIDE, i, 0, true);
		if (p->blocks[i].is_open_out)
			add_edge(s, i, FLOW_SOLVE_OUTSIDE, 0, true);
	}
	close_graph(s, false);
	close_graph(s, true);
	sort_edges(s);
}

/* What is expected. */

static double known(double x)
{
	return isfinite(x) && x > LEAST ? fmin(x, 1 / LEAST) : 0;
}

/* In samples. */
static double samples_of(const struct solving *s, uint32_t block)
{
	return known(s->p->blocks[block].time) / s->p->grain;
}

static double cost_of(const struct solving *s, uint32_t block)
{
	return known(s->p->blocks[block].cost) / s->p->grain;
}

/* As often as its time tells, alone. */
static double guess(const struct solving *s, uint32_t block)
{
	double cost = block < s->n ? cost_of(s, block) : 0;

	return cost > 0 ? samples_of(s, block) / cost : 0;
}

static double doubt_of(const struct edge *e, bool is_seen)
{
	if (is_seen && !e->is_unknown)
		return sqrt(1 / (e->seen + 0.5) + SEEN_DOUBT * SEEN_DOUBT);
	return e->likely > 0 ? UNLIKELY : UNSEEN;
}

static void expect(struct solving *s, uint32_t place)
{
	struct edge *e = s->edges.at + s->first[place];
	uint32_t n = s->first[place + 1] - s->first[place];
	double seen = 0, guessed = 0, start = 0;

	for (uint32_t i = 0; i < n; i++) {
		seen += e[i].seen;
		guessed += guess(s, e[i].to);
	}
	for (uint32_t i = 0; i < n; i++) {
		double even = e[i].is_unknown && n > 1 ? RARE : 1.0 / n;
		double likely = e[i].likely > 0 ? e[i].likely : even;
		double by_time = guessed > 0 ? guess(s, e[i].to) / guessed : likely;
		double told = (e[i].seen + even * BEFORE) / (seen + BEFORE);

		e[i].expected = log(seen > 0 ? told : likely);
		e[i].doubt = doubt_of(&e[i], seen > 0);
		e[i].share = seen > 0 ? exp(e[i].expected) : 0.8 * by_time + 0.2 * even;
		start += e[i].share;
	}
	for (uint32_t i = 0; i < n; i++)
		e[i].log_share = log(e[i].share / start);
}

static void share_out(struct solving *s)
{
	for (uint32_t place = 0; place <= s->n; place++) {
		struct edge *e = s->edges.at + s->first[place];
		uint32_t n = s->first[place + 1] - s->first[place];
		double most = -INFINITY, sum = 0;

		for (uint32_t i = 0; i < n; i++)
			most = fmax(most, e[i].log_share);
		for (uint32_t i = 0; i < n; i++) {
			e[i].log_share = fmax(e[i].log_share - most, -MAX_LOGIT);
			sum += exp(e[i].log_share);
		}
		for (uint32_t i = 0; i < n; i++) {
			e[i].log_share -= log(sum);
			e[i].share = exp(e[i].log_share);
		}
	}
}

static bool flow(struct solving *s)
{
	own(freep) double *shares = xcalloc(s->edges.n + 1, sizeof(*shares));
	double often = exp(s->scale);

	share_out(s);
	for (uint32_t i = 0; i < s->edges.n; i++)
		shares[i] = s->edges.at[i].share;
	if (!flow_chain_load(s->chain, shares))
		return false;
	flow_chain_flows(s->chain, s->flow);
	for (uint32_t i = 0; i < s->n; i++) {
		s->flow[i] *= often;
		if (!isfinite(s->flow[i]))
			return false;
	}
	return true;
}

static void remember(const struct solving *s, double *ret)
{
	ret[0] = s->scale;
	for (size_t i = 0; i < s->edges.n; i++)
		ret[1 + i] = s->edges.at[i].log_share;
}

static void recall(struct solving *s, const double *from)
{
	s->scale = from[0];
	for (size_t i = 0; i < s->edges.n; i++)
		s->edges.at[i].log_share = from[1 + i];
}

/* The outside's flow: so that all blocks together take as long as they did. */
static bool begin(struct solving *s)
{
	double time = 0, expected = 0;

	for (uint32_t i = 0; i <= s->n; i++)
		expect(s, i);
	s->scale = 0;
	if (!flow(s))
		return false;
	for (uint32_t i = 0; i < s->n; i++) {
		time += samples_of(s, i);
		expected += s->flow[i] * cost_of(s, i);
	}
	if (!(expected > 0) || !isfinite(expected))
		return false;
	s->scale = log(time / expected);
	return flow(s);
}

/* Where another search ended, if flow can be so. */
static bool begin_near(struct solving *s)
{
	const struct flow_solve *near = s->p->near;

	if (!near || !near->point || near->n_point != 1 + s->edges.n)
		return false;
	for (uint32_t i = 0; i <= s->n; i++)
		expect(s, i);
	recall(s, near->point);
	return flow(s);
}

/* Errors, in standard deviations. */

/* As it is within `far`, then only as its root. */
static void bend(double *error, double *slope)
{
	double size = fabs(*error), bent;

	if (size <= FAR)
		return;
	bent = sqrt(2 * FAR * size - FAR * FAR);
	*slope *= FAR / bent;
	*error = copysign(bent, *error);
}

/* Chance where samples are few, doubt in the cost where they are many. */
static void compare_block(struct solving *s, uint32_t i)
{
	double doubt = s->p->doubt, have = samples_of(s, i);
	double want = s->flow[i] * cost_of(s, i);
	double *error = &s->error[i], *slope = &s->slope[i];

	*error = *slope = 0;
	if (cost_of(s, i) <= 0)
		return;
	*error = 2 / doubt * (asinh(doubt * sqrt(want)) - asinh(doubt * sqrt(have)));
	*slope = sqrt(want / (1 + doubt * doubt * want));
	if (*error < 0) {
		*error *= LONGER;
		*slope *= LONGER;
	}
	bend(error, slope);
}

/* The sum of squares. */
static double compare(struct solving *s)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->n; i++)
		compare_block(s, i);
	for (uint32_t i = 0; i < s->edges.n; i++) {
		const struct edge *e = &s->edges.at[i];

		s->error[s->n + i] = (e->log_share - e->expected) / e->doubt;
		s->slope[s->n + i] = 1 / e->doubt;
		bend(&s->error[s->n + i], &s->slope[s->n + i]);
	}
	for (size_t i = 0; i < s->n + s->edges.n; i++)
		sum += s->error[i] * s->error[i];
	return sum;
}

/* What changes errors: the scale, then each edge's part in the shares. */

static void change_errors(const struct solving *s, const double *by, double *ret)
{
	own(freep) double *more = xcalloc((size_t)s->n + 1, sizeof(*more));
	own(freep) double *flows = xcalloc((size_t)s->n + 1, sizeof(*flows));

	for (uint32_t place = 0; place <= s->n; place++) {
		double from = place < s->n ? s->flow[place] : exp(s->scale), mean = 0;

		for (uint32_t i = s->first[place]; i < s->first[place + 1]; i++)
			mean += s->edges.at[i].share * by[1 + i];
		for (uint32_t i = s->first[place]; i < s->first[place + 1]; i++) {
			const struct edge *e = &s->edges.at[i];

			more[e->to] += from * e->share * (by[1 + i] - mean);
			ret[s->n + i] = s->slope[s->n + i] * (by[1 + i] - mean);
		}
	}
	flow_chain_push(s->chain, more, flows);
	for (uint32_t i = 0; i < s->n; i++)
		ret[i] = s->flow[i] > 0 ? s->slope[i] * (flows[i] / s->flow[i] + by[0])
					: 0;
}

/* The other way round: how much each of them changes a sum of errors by these weights. */
static void gather_changes(const struct solving *s, const double *weights, double *ret)
{
	own(freep) double *worth = xcalloc((size_t)s->n + 1, sizeof(*worth));
	own(freep) double *value = xcalloc((size_t)s->n + 1, sizeof(*value));

	ret[0] = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		ret[0] += s->slope[i] * weights[i];
		worth[i] = s->flow[i] > 0 ? s->slope[i] * weights[i] / s->flow[i] : 0;
	}
	flow_chain_pull(s->chain, worth, value);
	for (uint32_t place = 0; place <= s->n; place++) {
		double from = place < s->n ? s->flow[place] : exp(s->scale);
		double mean = 0, sum = 0;

		for (uint32_t i = s->first[place]; i < s->first[place + 1]; i++) {
			mean += s->edges.at[i].share * value[s->edges.at[i].to];
			sum += s->slope[s->n + i] * weights[s->n + i];
		}
		for (uint32_t i = s->first[place]; i < s->first[place + 1]; i++) {
			const struct edge *e = &s->edges.at[i];

			ret[1 + i] = from * e->share * (value[e->to] - mean) +
				     s->slope[s->n + i] * weights[s->n + i] -
				     e->share * sum;
		}
	}
}

static double product(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* The step that makes the errors least if they change as now (conjugate gradients on the
 * normal equations), with what holds it back. */
static void find_step(const struct solving *s, double hold, double *step)
{
	size_t n = 1 + s->edges.n, n_errors = s->n + s->edges.n;
	own(freep) double *left = xcalloc(n, sizeof(*left));
	own(freep) double *way = xcalloc(n, sizeof(*way));
	own(freep) double *image = xcalloc(n_errors + 1, sizeof(*image));
	own(freep) double *back = xcalloc(n, sizeof(*back));
	double size, first;

	memset(step, 0, n * sizeof(*step));
	gather_changes(s, s->error, left);
	for (size_t i = 0; i < n; i++)
		way[i] = left[i] = -left[i];
	first = size = product(left, left, n);
	for (int turn = 0; turn < MAX_TURNS && size > 1e-6 * first; turn++) {
		double length, next;

		change_errors(s, way, image);
		gather_changes(s, image, back);
		for (size_t i = 0; i < n; i++)
			back[i] += hold * way[i];
		length = size / product(way, back, n);
		if (!isfinite(length))
			return;
		for (size_t i = 0; i < n; i++) {
			step[i] += length * way[i];
			left[i] -= length * back[i];
		}
		next = product(left, left, n);
		for (size_t i = 0; i < n; i++)
			way[i] = left[i] + next / size * way[i];
		size = next;
	}
}

/* In logarithms: more at once is never right. */
static void take_step(struct solving *s, const double *step)
{
	const double most = 3;

	s->scale += fmax(-most, fmin(most, step[0]));
	for (size_t i = 0; i < s->edges.n; i++)
		s->edges.at[i].log_share += fmax(-most, fmin(most, step[1 + i]));
}

static bool is_finite(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

static uint32_t improve(struct solving *s)
{
	size_t n = 1 + s->edges.n;
	own(freep) double *step = xcalloc(n, sizeof(*step));
	own(freep) double *best = xcalloc(n, sizeof(*best));
	double least = compare(s), hold = 0.1;
	uint32_t round = 0;

	remember(s, best);
	while (round++ < MAX_ROUNDS && hold < 1e9) {
		double now;

		find_step(s, hold, step);
		if (!is_finite(step, n))
			break;
		take_step(s, step);
		now = flow(s) ? compare(s) : INFINITY;
		if (!(now < least)) {
			recall(s, best);
			hold *= 10;
			if (!flow(s))
				break;
			compare(s);
			continue;
		}
		remember(s, best);
		hold /= 5;
		if (least - now < ENOUGH * least)
			break;
		least = now;
	}
	recall(s, best);
	flow(s);
	return round;
}

/* Too many ways, or numbers too far apart: one way out of each block, the first one on
 * a shortest path outside. */

static void keep_shortest(struct solving *s)
{
	struct reaching r = { .is_backwards = true };
	own(freep) bool *is_kept = xcalloc(s->edges.n + 1, sizeof(*is_kept));
	uint32_t from = 0, n = 0;

	index_edges(s, &r);
	r.reached[s->n] = true;
	r.stack[n++] = s->n;
	while (from < n) {
		uint32_t to = r.stack[from++];

		for (uint32_t i = r.first[to]; i < r.first[to + 1]; i++) {
			uint32_t before = s->edges.at[r.at[i]].from;

			if (r.reached[before])
				continue;
			r.reached[before] = is_kept[r.at[i]] = true;
			r.stack[n++] = before;
		}
	}
	reaching_fini(&r);
	for (uint32_t i = 0; i < s->edges.n; i++)
		s->edges.at[i].share = is_kept[i] || s->edges.at[i].from == s->n ? 1 : 0;
}

/* In the order of a walk from those that nothing leads to. */
static void flow_down(struct solving *s)
{
	own(freep) uint32_t *n_in = xcalloc((size_t)s->n + 1, sizeof(*n_in));
	own(freep) uint32_t *order = xcalloc((size_t)s->n + 1, sizeof(*order));
	uint32_t n = 0, n_sources = s->first[s->n + 1] - s->first[s->n];
	double all = 0;

	memset(s->flow, 0, s->n * sizeof(*s->flow));
	for (uint32_t i = 0; i < s->n; i++)
		all += guess(s, i);
	for (uint32_t i = 0; i < s->edges.n; i++) {
		struct edge *e = &s->edges.at[i];

		if (e->from == s->n)
			e->share = 1.0 / n_sources;
		else if (e->share > 0)
			n_in[e->to]++;
	}
	/* As if each execution passed a good part of the blocks. */
	s->scale = log(all / s->n + 1e-300);
	for (uint32_t i = s->first[s->n]; i < s->first[s->n + 1]; i++)
		if (s->edges.at[i].to < s->n)
			s->flow[s->edges.at[i].to] +=
				exp(s->scale) * s->edges.at[i].share;
	for (uint32_t i = 0; i < s->n; i++)
		if (!n_in[i])
			order[n++] = i;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = s->first[order[i]]; k < s->first[order[i] + 1]; k++) {
			const struct edge *e = &s->edges.at[k];

			if (e->share <= 0 || e->to == s->n)
				continue;
			s->flow[e->to] += s->flow[order[i]];
			if (!--n_in[e->to])
				order[n++] = e->to;
		}
}

/* The outcome. */

static void sort_ways(const struct solving *s, struct flow_solve *ret)
{
	const struct flow_solve_problem *p = s->p;
	own(freep) uint32_t *next = xmemdup(s->first, (s->n + 1) * sizeof(*next));

	/* A block's edges are in the order of the ways, then those that may be there. */
	for (uint32_t i = 0; i < p->n_ways; i++) {
		uint32_t from =
			p->ways[i].from == FLOW_SOLVE_OUTSIDE ? s->n : p->ways[i].from;
		double flow = from < s->n ? s->flow[from] : exp(s->scale);

		ret->of_way[i] = flow * s->edges.at[next[from]++].share;
	}
	vec_each(e, &s->edges) {
		double flow = e->from < s->n ? s->flow[e->from] : exp(s->scale);

		if (e->is_unknown && e->from < s->n)
			ret->unknown_out[e->from] += flow * e->share;
		else if (e->is_unknown)
			ret->unknown_in[e->to] += flow * e->share;
	}
}

static bool has_time(const struct flow_solve_problem *p)
{
	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (known(p->blocks[i].time) > 0 && known(p->blocks[i].cost) > 0)
			return true;
	return false;
}

static bool make_chain(struct solving *s)
{
	own(freep) struct flow_chain_way *ways = xcalloc(s->edges.n + 1, sizeof(*ways));

	for (size_t i = 0; i < s->edges.n; i++)
		ways[i] =
			(struct flow_chain_way){ s->edges.at[i].from, s->edges.at[i].to };
	s->chain = flow_chain_new(s->n, ways, s->edges.n);
	return s->chain;
}

void flow_solve_make(struct flow_solve *ret, const struct flow_solve_problem *p)
{
	own(solving_fini) struct solving s = { .p = p, .n = p->n_blocks };
	size_t n = (size_t)p->n_blocks + 1;

	*ret = (struct flow_solve){ .of_block = xcalloc(n, sizeof(double)),
				    .of_way = xcalloc((size_t)p->n_ways + 1,
						      sizeof(double)),
				    .unknown_in = xcalloc(n, sizeof(double)),
				    .unknown_out = xcalloc(n, sizeof(double)) };
	if (!has_time(p))
		return;
	build(&s);
	s.flow = xcalloc(n, sizeof(*s.flow));
	s.error = xcalloc(n + s.edges.n, sizeof(*s.error));
	s.slope = xcalloc(n + s.edges.n, sizeof(*s.slope));
	if (make_chain(&s) && (begin_near(&s) || begin(&s))) {
		ret->n_rounds = improve(&s);
		ret->n_point = 1 + s.edges.n;
		ret->point = xcalloc(ret->n_point, sizeof(*ret->point));
		remember(&s, ret->point);
	} else {
		ret->is_coarse = true;
		keep_shortest(&s);
		flow_down(&s);
	}
	memcpy(ret->of_block, s.flow, p->n_blocks * sizeof(*s.flow));
	sort_ways(&s, ret);
}

void flow_solve_fini(struct flow_solve *s)
{
	free(s->of_block);
	free(s->of_way);
	free(s->unknown_in);
	free(s->unknown_out);
	free(s->point);
	*s = (struct flow_solve){ 0 };
}

void flow_solve_finip(struct flow_solve *s)
{
	flow_solve_fini(s);
}
