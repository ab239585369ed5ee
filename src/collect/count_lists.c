/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_lists.h"

#include <stdlib.h>

#include "base/mem.h"

void count_lists_fini(struct count_lists *l)
{
	vec_fini(&l->added);
	free(l->begins);
	free(l->values);
}

void count_lists_add(struct count_lists *l, uint32_t key, uint32_t value)
{
	*vec_push(&l->added) = (struct count_lists_item){ key, value };
}

void count_lists_order(struct count_lists *l, size_t n_keys)
{
	uint32_t n = 0;

	l->n_keys = n_keys;
	l->begins = xcalloc(n_keys + 1, sizeof(*l->begins));
	l->values = xcalloc(l->added.n + 1, sizeof(*l->values));
	vec_each(x, &l->added)
		if (x->key < n_keys)
			l->begins[x->key]++;
	for (size_t i = 0; i <= n_keys; i++) {
		n += l->begins[i];
		l->begins[i] = n;
	}
	/* from behind, so that each key's begin is where its first one comes to be */
	for (size_t i = l->added.n; i-- > 0;)
		if (l->added.at[i].key < n_keys)
			l->values[--l->begins[l->added.at[i].key]] = l->added.at[i].value;
	vec_fini(&l->added);
}

const uint32_t *count_lists_of(const struct count_lists *l, uint32_t key, size_t *ret_n)
{
	*ret_n = key < l->n_keys ? l->begins[key + 1] - l->begins[key] : 0;
	return l->values + (*ret_n ? l->begins[key] : 0);
}
