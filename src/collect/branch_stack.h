/* SPDX-License-Identifier: Apache-2.0
 *
 * branch_stack - the branches that a processor took before a sample, where it keeps them
 * (PERF_SAMPLE_BRANCH_STACK), as passages of branches: those that were taken, and those
 * in between that were not.
 *
 * Nothing is guessed: where the code between two of them does not lead from one to the
 * other, it tells nothing.
 */
#ifndef DWELL_COLLECT_BRANCH_STACK_H
#define DWELL_COLLECT_BRANCH_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/forward.h"

#define BRANCH_STACK_ENTRY_BYTES 24 /* struct perf_branch_entry */
#define BRANCH_STACK_MAX	 64 /* entries; older ones are not looked at */

struct branch_stack {
	const uint8_t *entries; /* the newest first; as the kernel writes them */
	unsigned n;
	uint64_t ip; /* where the sample was */
};

struct branch_stack_passage {
	uint64_t branch, to;
	/* As the processor says, of branches that were taken; neither: it does not. */
	bool is_missed, is_foreseen;
};

typedef void branch_stack_fn(void *ctx, const struct branch_stack_passage *p);

/* For code of this machine. */
bool branch_stack_is_possible(void);
/* Of conditional branches, and those that go where an operand says, in their order. */
void branch_stack_each(const struct branch_stack *s, forward_code_fn *code,
		       branch_stack_fn *fn, void *ctx);

#endif
