/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/traced_cuts.h"

void traced_cuts_begin(struct traced_cuts *c, const struct gauges_cuts *of,
		       uint64_t from_ns)
{
	*c = (struct traced_cuts){ .of = of, .n_seen = of ? of->heard.n : 0 };
	while (c->n_seen && of->heard.at[c->n_seen - 1].time_ns > from_ns)
		c->n_seen--;
}

void traced_cuts_fini(struct traced_cuts *c)
{
	vec_fini(&c->waiting);
}

static void insert(struct traced_cuts *c, const struct gauges_cut *cut)
{
	size_t i = c->waiting.n;

	vec_push(&c->waiting);
	for (; i > c->n_passed && c->waiting.at[i - 1].time_ns > cut->time_ns; i--)
		c->waiting.at[i] = c->waiting.at[i - 1];
	c->waiting.at[i] = *cut;
}

static void see(struct traced_cuts *c)
{
	while (c->n_seen < c->of->heard.n)
		insert(c, &c->of->heard.at[c->n_seen++]);
}

static void set_next(struct traced_cuts *c)
{
	c->next_ns = c->n_passed < c->waiting.n ? c->waiting.at[c->n_passed].time_ns
						: UINT64_MAX;
}

bool traced_cuts_next(struct traced_cuts *c, uint64_t time_ns, struct gauges_cut *ret)
{
	if (c->of)
		see(c);
	set_next(c);
	if (time_ns < c->next_ns || c->n_passed == c->waiting.n)
		return false;
	*ret = c->waiting.at[c->n_passed++];
	if (c->n_passed == c->waiting.n)
		c->n_passed = c->waiting.n = 0;
	set_next(c);
	return true;
}
