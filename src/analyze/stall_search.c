/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_search.h"

#include <stdlib.h>

#include "analyze/function_index.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"

struct stall_search {
	const struct profile *p;
	struct function_code_options code;
	struct function_index *index; /* NULL: there is no time */
	bool *has_read;		      /* [function] */
	struct map found_at;	      /* of function and address: index of found */
	VEC(struct stall_search_found) found;
	const struct machine_model *model;
	bool is_estimated;
};

int stall_search_new(const struct profile *p, const char *model, double clock_ghz,
		     struct stall_search **ret, struct err *e)
{
	own(stall_search_freep) struct stall_search *s = xcalloc(1, sizeof(*s));
	int rc = 0;

	s->p = p;
	s->has_read = xcalloc(profile_n_functions(p) + 1, sizeof(*s->has_read));
	for (size_t i = 0; i < profile_n_columns(p) && !s->index && rc == 0; i++)
		if (time_column_is(p, i))
			rc = function_code_index(p, &s->index, e);
	if (rc < 0)
		return rc;
	s->code = (struct function_code_options){ .model = model,
						  .clock_ghz = clock_ghz,
						  .index = s->index };
	*ret = steal(&s);
	return 0;
}

void stall_search_free(struct stall_search *s)
{
	if (!s)
		return;
	function_index_free(s->index);
	free(s->has_read);
	map_fini(&s->found_at);
	vec_fini(&s->found);
	free(s);
}

void stall_search_freep(struct stall_search **s)
{
	stall_search_free(*s);
}

bool stall_search_has_time(const struct stall_search *s)
{
	return s->index;
}

bool stall_search_has_read(const struct stall_search *s, uint32_t function)
{
	return s->has_read[function];
}

bool stall_search_delta(const struct stall_search *s, uint32_t function, uint64_t *ret)
{
	struct listing l = { 0 };

	if (s->index)
		function_index_listing(s->index, function, &l);
	*ret = l.code_delta;
	return l.has_code_delta;
}

bool stall_search_is_estimated(const struct stall_search *s)
{
	return s->is_estimated;
}

const struct machine_model *stall_search_model(const struct stall_search *s)
{
	return s->model;
}

static uint64_t key_of(uint32_t function, uint64_t address)
{
	return hash_pair(function, address);
}

/* Samples land behind the instruction that was waited for. */
static void keep(struct stall_search *s, const struct function_code *c,
		 const struct stalls *of, uint32_t function, uint32_t block,
		 uint32_t step, uint64_t lands_at)
{
	struct stall_search_found found = { .is_estimated = c->is_estimated };

	if (!stall_place_take(&found.place, c, function, of, block, step))
		return;
	found.share = c->all_cycles > 0 ? found.place.cycles / c->all_cycles : 0;
	*map_slot(&s->found_at, key_of(function, lands_at), NULL) = s->found.n;
	*vec_push(&s->found) = found;
}

static void keep_all(struct stall_search *s, const struct function_code *c,
		     const struct stalls *of, uint32_t function)
{
	const struct procedure *p = c->procedure;

	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct procedure_block *b = &p->blocks[i];

		keep(s, c, of, function, i, PROCEDURE_OUTSIDE, b->start);
		for (uint32_t k = b->first_step; k + 1 < b->first_step + b->n_steps; k++)
			keep(s, c, of, function, i, k, p->steps[k + 1].address);
	}
}

static int look_at(struct stall_search *s, uint32_t function, struct err *e)
{
	own(function_code_fini) struct function_code c = { 0 };
	own(stall_fini) struct stalls of = { 0 };
	struct err why = { 0 };
	int rc = function_code_make(&c, s->p, function, &s->code, &why);

	if (rc == ERR_USAGE)
		return err_set(e, rc, "%s", why.text);
	if (rc < 0 || !c.model || !c.samples)
		return 0;
	s->model = c.model;
	s->is_estimated |= c.is_estimated;
	stall_find_all(&of, &c);
	keep_all(s, &c, &of, function);
	return 0;
}

int stall_search_find(struct stall_search *s, uint32_t function, uint64_t address,
		      struct stall_search_found *ret, struct err *e)
{
	const uint64_t *at;

	if (!s->index)
		return 0;
	if (!s->has_read[function]) {
		int rc = look_at(s, function, e);

		s->has_read[function] = true;
		if (rc < 0)
			return rc;
	}
	at = map_find(&s->found_at, key_of(function, address));
	if (!at)
		return 0;
	*ret = s->found.at[*at];
	return 1;
}
