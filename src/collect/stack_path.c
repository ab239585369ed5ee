/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/stack_path.h"

void stack_path_fini(struct stack_path *p)
{
	vec_fini(&p->steps);
}

void stack_path_begin(struct stack_path *p, uint64_t version)
{
	if (p->version != version)
		vec_clear(&p->steps);
	p->version = version;
}

uint32_t stack_path_match(struct stack_path *p, size_t i, uint64_t pc, uint32_t flags)
{
	if (i < p->steps.n) {
		const struct stack_step *s = &p->steps.at[i];

		if (s->pc == pc && s->flags == flags)
			return s->stack;
		p->steps.n = i;
	}
	return UINT32_MAX;
}

void stack_path_push(struct stack_path *p, uint64_t pc, uint32_t flags, uint32_t stack)
{
	*vec_push(&p->steps) =
		(struct stack_step){ .pc = pc, .flags = flags, .stack = stack };
}
