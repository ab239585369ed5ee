/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/lazy_stubs.h"

#include <string.h>

static const char suffix[] = "@plt";

void lazy_stubs_fini(struct lazy_stubs *s)
{
	map_fini(&s->last_of);
	vec_fini(&s->all);
}

/* One for each set of registers that it keeps. */
bool lazy_stubs_is_resolver(const char *function)
{
	static const char prefix[] = "_dl_runtime_resolve";

	return strncmp(function, prefix, sizeof(prefix) - 1) == 0;
}

static size_t length_of(const char *stub)
{
	size_t n = strlen(stub), end = sizeof(suffix) - 1;

	return n > end && strcmp(stub + n - end, suffix) == 0 ? n - end : 0;
}

static uint64_t key_of(uint32_t program, const char *name, size_t n)
{
	return hash_pair(program, hash_bytes(name, n));
}

void lazy_stubs_add(struct lazy_stubs *s, uint32_t program, const char *name,
		    uint32_t node)
{
	size_t n = length_of(name);
	uint64_t *slot;

	if (!n)
		return;
	slot = map_slot(&s->last_of, key_of(program, name, n), NULL);
	*vec_push(&s->all) = (struct lazy_stub){
		.name = name, .program = program, .node = node, .next = (uint32_t)*slot
	};
	*slot = s->all.n;
}

const struct lazy_stub *lazy_stubs_find(const struct lazy_stubs *s, uint32_t program,
					const char *function,
					const struct lazy_stub *behind)
{
	size_t n = strlen(function);
	const uint64_t *last = map_find(&s->last_of, key_of(program, function, n));
	uint32_t at = behind ? behind->next : last ? (uint32_t)*last : 0;

	for (; at; at = s->all.at[at - 1].next) {
		const struct lazy_stub *x = &s->all.at[at - 1];

		if (x->program == program && length_of(x->name) == n &&
		    memcmp(x->name, function, n) == 0)
			return x;
	}
	return NULL;
}
