/* SPDX-License-Identifier: Apache-2.0
 *
 * function_ways - how often ways were taken that nothing but their ends tells: those that
 * are the only ones of a block, and those into a function; and those on in line.
 */
#ifndef DWELL_ANALYZE_FUNCTION_WAYS_H
#define DWELL_ANALYZE_FUNCTION_WAYS_H

#include <stdbool.h>
#include <stdint.h>

struct function_code;
struct procedure;

/* False: its blocks have other ways, too.  Else it is as often as its block, no less
 * sure.
 */
bool function_ways_follow_block(struct function_code *c, uint32_t way);

/* Of a block's ways the one to what follows it in memory, PROCEDURE_OUTSIDE: none does.
 */
uint32_t function_ways_on(const struct procedure *p, uint32_t block);

/* How often the function was entered, once all ways have their times.  A loop may begin
 * at the entry: that is come to more often than from outside. */
void function_ways_enter(struct function_code *c);

#endif
