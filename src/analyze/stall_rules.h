/* SPDX-License-Identifier: Apache-2.0
 *
 * stall_rules - who may be guilty of a stall: of all causes those that cannot be ruled
 * out, with the most that each can explain.
 */
#ifndef DWELL_ANALYZE_STALL_RULES_H
#define DWELL_ANALYZE_STALL_RULES_H

#include "analyze/stall.h"
#include "analyze/stall_loop.h"

/* What is known of the surroundings of a block. */
struct stall_scene {
	const struct function_code *c;
	struct stall_loop loop;
	bool is_alone; /* no other thread is there to take lines away */
};

/* The step waited; s has its cycles. */
void stall_rules_step(const struct stall_scene *at, struct stall *s, uint32_t step);
/* It was waited at the block's begin: for what led there, or on the way. */
void stall_rules_arrival(const struct stall_scene *at, struct stall *s);

#endif
