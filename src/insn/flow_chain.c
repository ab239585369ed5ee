/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/flow_chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/vec.h"

#define NONE	  UINT32_MAX
#define MAX_STEPS (4u << 20) /* of an elimination: ways in times ways out */
#define N_RANKS	  1024	     /* of places by that product; the last one is for all more */

struct link {
	uint32_t from, to;
};

/* The links of a place when it is eliminated, in `at`. */
struct pivot {
	uint32_t place, first_in, n_in, first_out, n_out;
};

struct flow_chain {
	uint32_t n_blocks;
	size_t n_ways;
	uint32_t *link_of; /* [way], NONE: of no account */
	VEC(struct link) links;
	VEC(uint32_t) at;     /* links */
	VEC(uint32_t) joins;  /* for each way in, each way out: the link; NONE: none */
	struct pivot *pivots; /* in order */
	double *share;	      /* [link], of when its end is eliminated */
	double *out;	      /* [pivot]: of all ways out */
};

void flow_chain_free(struct flow_chain *c)
{
	if (!c)
		return;
	vec_fini(&c->links);
	vec_fini(&c->at);
	vec_fini(&c->joins);
	free(c->link_of);
	free(c->pivots);
	free(c->share);
	free(c->out);
	free(c);
}

void flow_chain_freep(struct flow_chain **c)
{
	flow_chain_free(*c);
}

/* The order of elimination. */

typedef VEC(uint32_t) numbers;

struct planning {
	struct flow_chain *c;
	struct map link_at;	/* from and to: link + 1 */
	numbers *in, *out;	/* [place]: links, also of places that are gone */
	uint32_t *n_in, *n_out; /* [place]: of places that are there */
	uint32_t *rank;		/* [place] */
	bool *is_gone;		/* [place] */
	numbers ranks[N_RANKS]; /* places, also those that have another one by now */
};

static void planning_fini(struct planning *p)
{
	for (uint32_t i = 0; i <= p->c->n_blocks; i++) {
		vec_fini(&p->in[i]);
		vec_fini(&p->out[i]);
	}
	for (size_t i = 0; i < N_RANKS; i++)
		vec_fini(&p->ranks[i]);
	map_fini(&p->link_at);
	free(p->in);
	free(p->out);
	free(p->n_in);
	free(p->n_out);
	free(p->rank);
	free(p->is_gone);
}

/* Those around one place are of no account: shares are of what goes elsewhere. */
static uint32_t link_between(struct planning *p, uint32_t from, uint32_t to)
{
	uint64_t *slot;

	if (from == to)
		return NONE;
	slot = map_slot(&p->link_at, (uint64_t)from << 32 | to, NULL);
	if (!*slot) {
		*vec_push(&p->c->links) = (struct link){ from, to };
		*slot = p->c->links.n;
		*vec_push(&p->out[from]) = (uint32_t)*slot - 1;
		*vec_push(&p->in[to]) = (uint32_t)*slot - 1;
		p->n_out[from]++;
		p->n_in[to]++;
	}
	return (uint32_t)*slot - 1;
}

static void drop_gone(const struct planning *p, numbers *links, bool is_in)
{
	size_t n = 0;

	for (size_t i = 0; i < links->n; i++) {
		const struct link *l = &p->c->links.at[links->at[i]];

		if (!p->is_gone[is_in ? l->from : l->to])
			links->at[n++] = links->at[i];
	}
	links->n = n;
}

static void rank(struct planning *p, uint32_t place)
{
	uint64_t product;

	if (place == p->c->n_blocks)
		return;
	product = (uint64_t)p->n_in[place] * p->n_out[place];
	p->rank[place] = product < N_RANKS ? (uint32_t)product : N_RANKS - 1;
	*vec_push(&p->ranks[p->rank[place]]) = place;
}

/* Of those with the fewest neighbours; NONE: all are gone. */
static uint32_t next_place(struct planning *p)
{
	for (uint32_t i = 0; i < N_RANKS; i++)
		while (p->ranks[i].n) {
			uint32_t place = p->ranks[i].at[--p->ranks[i].n];

			if (!p->is_gone[place] && p->rank[place] == i)
				return place;
		}
	return NONE;
}

static void keep(struct flow_chain *c, const numbers *links)
{
	for (size_t i = 0; i < links->n; i++)
		*vec_push(&c->at) = links->at[i];
}

static void join(struct planning *p, const struct pivot *v)
{
	struct flow_chain *c = p->c;

	for (uint32_t i = 0; i < v->n_in; i++)
		for (uint32_t k = 0; k < v->n_out; k++) {
			uint32_t from = c->links.at[c->at.at[v->first_in + i]].from;
			uint32_t to = c->links.at[c->at.at[v->first_out + k]].to;
			uint32_t link = link_between(p, from, to);

			*vec_push(&c->joins) = link;
		}
}

/* Its neighbours have one less. */
static void leave(struct planning *p, const struct pivot *v)
{
	const struct flow_chain *c = p->c;

	p->is_gone[v->place] = true;
	for (uint32_t i = 0; i < v->n_in; i++)
		p->n_out[c->links.at[c->at.at[v->first_in + i]].from]--;
	for (uint32_t i = 0; i < v->n_out; i++)
		p->n_in[c->links.at[c->at.at[v->first_out + i]].to]--;
}

static void rank_around(struct planning *p, const struct pivot *v)
{
	const struct flow_chain *c = p->c;

	for (uint32_t i = 0; i < v->n_in; i++)
		rank(p, c->links.at[c->at.at[v->first_in + i]].from);
	for (uint32_t i = 0; i < v->n_out; i++)
		rank(p, c->links.at[c->at.at[v->first_out + i]].to);
}

static bool eliminate(struct planning *p, struct pivot *v, uint32_t place)
{
	struct flow_chain *c = p->c;

	drop_gone(p, &p->in[place], true);
	drop_gone(p, &p->out[place], false);
	if (c->joins.n + (uint64_t)p->in[place].n * p->out[place].n > MAX_STEPS)
		return false;
	*v = (struct pivot){ .place = place, .first_in = (uint32_t)c->at.n };
	keep(c, &p->in[place]);
	v->n_in = (uint32_t)c->at.n - v->first_in;
	v->first_out = (uint32_t)c->at.n;
	keep(c, &p->out[place]);
	v->n_out = (uint32_t)c->at.n - v->first_out;
	leave(p, v);
	join(p, v);
	rank_around(p, v);
	return true;
}

static bool plan(struct flow_chain *c, const struct flow_chain_way *ways)
{
	size_t n = (size_t)c->n_blocks + 1;
	own(planning_fini) struct planning p = { .c = c,
						 .in = xcalloc(n, sizeof(*p.in)),
						 .out = xcalloc(n, sizeof(*p.out)),
						 .n_in = xcalloc(n, sizeof(*p.n_in)),
						 .n_out = xcalloc(n, sizeof(*p.n_out)),
						 .rank = xcalloc(n, sizeof(*p.rank)),
						 .is_gone =
							 xcalloc(n, sizeof(*p.is_gone)) };

	for (size_t i = 0; i < c->n_ways; i++)
		c->link_of[i] = link_between(&p, ways[i].from, ways[i].to);
	for (uint32_t i = 0; i < c->n_blocks; i++)
		rank(&p, i);
	for (uint32_t i = 0; i < c->n_blocks; i++)
		if (!eliminate(&p, &c->pivots[i], next_place(&p)))
			return false;
	return true;
}

struct flow_chain *flow_chain_new(uint32_t n_blocks, const struct flow_chain_way *ways,
				  size_t n_ways)
{
	own(flow_chain_freep) struct flow_chain *c = xcalloc(1, sizeof(*c));

	c->n_blocks = n_blocks;
	c->n_ways = n_ways;
	c->link_of = xcalloc(n_ways + 1, sizeof(*c->link_of));
	c->pivots = xcalloc((size_t)n_blocks + 1, sizeof(*c->pivots));
	c->out = xcalloc((size_t)n_blocks + 1, sizeof(*c->out));
	if (!plan(c, ways))
		return NULL;
	c->share = xcalloc(c->links.n + 1, sizeof(*c->share));
	return steal(&c);
}

/* Numbers. */

bool flow_chain_load(struct flow_chain *c, const double *shares)
{
	const uint32_t *join = c->joins.at;

	memset(c->share, 0, (c->links.n + 1) * sizeof(*c->share));
	for (size_t i = 0; i < c->n_ways; i++)
		if (c->link_of[i] != NONE)
			c->share[c->link_of[i]] += shares[i];
	for (uint32_t i = 0; i < c->n_blocks; i++) {
		const struct pivot *v = &c->pivots[i];
		const uint32_t *in = c->at.at + v->first_in,
			       *out = c->at.at + v->first_out;

		c->out[i] = 0;
		for (uint32_t k = 0; k < v->n_out; k++)
			c->out[i] += c->share[out[k]];
		if (!(c->out[i] > 1e-290))
			return false;
		for (uint32_t k = 0; k < v->n_in; k++)
			for (uint32_t l = 0; l < v->n_out; l++, join++)
				if (*join != NONE)
					c->share[*join] += c->share[in[k]] *
							   (c->share[out[l]] / c->out[i]);
	}
	return true;
}

static double come_in(const struct flow_chain *c, const struct pivot *v,
		      const double *flows)
{
	double sum = 0;

	for (uint32_t k = 0; k < v->n_in; k++) {
		uint32_t in = c->at.at[v->first_in + k];

		if (c->links.at[in].from != c->n_blocks)
			sum += flows[c->links.at[in].from] * c->share[in];
	}
	return sum;
}

static double from_outside(const struct flow_chain *c, const struct pivot *v)
{
	for (uint32_t k = 0; k < v->n_in; k++) {
		uint32_t in = c->at.at[v->first_in + k];

		if (c->links.at[in].from == c->n_blocks)
			return c->share[in];
	}
	return 0;
}

void flow_chain_flows(const struct flow_chain *c, double *ret)
{
	for (uint32_t i = c->n_blocks; i-- > 0;) {
		const struct pivot *v = &c->pivots[i];

		ret[v->place] = (from_outside(c, v) + come_in(c, v, ret)) / c->out[i];
	}
}

void flow_chain_push(const struct flow_chain *c, const double *more, double *ret)
{
	memcpy(ret, more, c->n_blocks * sizeof(*ret));
	for (uint32_t i = 0; i < c->n_blocks; i++) {
		const struct pivot *v = &c->pivots[i];
		double each = ret[v->place] / c->out[i];

		for (uint32_t k = 0; k < v->n_out && each != 0; k++) {
			uint32_t out = c->at.at[v->first_out + k];

			if (c->links.at[out].to != c->n_blocks)
				ret[c->links.at[out].to] += each * c->share[out];
		}
	}
	for (uint32_t i = c->n_blocks; i-- > 0;) {
		const struct pivot *v = &c->pivots[i];

		ret[v->place] = (ret[v->place] + come_in(c, v, ret)) / c->out[i];
	}
}

void flow_chain_pull(const struct flow_chain *c, const double *worth, double *ret)
{
	memcpy(ret, worth, c->n_blocks * sizeof(*ret));
	for (uint32_t i = 0; i < c->n_blocks; i++) {
		const struct pivot *v = &c->pivots[i];
		double each = ret[v->place] / c->out[i];

		for (uint32_t k = 0; k < v->n_in && each != 0; k++) {
			uint32_t in = c->at.at[v->first_in + k];

			if (c->links.at[in].from != c->n_blocks)
				ret[c->links.at[in].from] += each * c->share[in];
		}
	}
	for (uint32_t i = c->n_blocks; i-- > 0;) {
		const struct pivot *v = &c->pivots[i];
		double sum = ret[v->place];

		for (uint32_t k = 0; k < v->n_out; k++) {
			uint32_t out = c->at.at[v->first_out + k];

			if (c->links.at[out].to != c->n_blocks)
				sum += ret[c->links.at[out].to] * c->share[out];
		}
		ret[v->place] = sum / c->out[i];
	}
}
