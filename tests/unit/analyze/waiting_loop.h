/* SPDX-License-Identifier: Apache-2.0
 *
 * waiting_loop - a function that is a loop of given code and a return, in which one
 * instruction waits longer than at best.
 */
#ifndef DWELL_UNIT_WAITING_LOOP_H
#define DWELL_UNIT_WAITING_LOOP_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/function_code.h"

#define WAITING_LOOP_START  0x1000
#define WAITING_LOOP_TIMES  1e6	 /* of the loop's block, which is the first */
#define WAITING_LOOP_SAMPLE 1e4	 /* cycles */
#define WAITING_LOOP_WAITED 20.0 /* cycles each time */
#define WAITING_LOOP_BEST   0.25 /* of each instruction */

#define WAITING_LOOP_CODE(text) text, sizeof(text) - 1

/* waits: the instruction.  The caller frees it by function_code_fini(). */
void waiting_loop_make_of(unsigned machine, struct function_code *c, const char *body,
			  size_t size, uint32_t waits);
/* Of x86-64. */
void waiting_loop_make(struct function_code *c, const char *body, size_t size,
		       uint32_t waits);

#endif
