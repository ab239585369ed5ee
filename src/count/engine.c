/* SPDX-License-Identifier: Apache-2.0 */
#include "count/engine.h"

#include "count/code_change.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/indirect.h"
#include "count/low.h"
#include "count/memory_limit.h"
#include "count/place.h"
#include "count/reserve.h"

#define PARTS_MAX 0x2000000u

struct engine engine;

bool engine_can_rest(void)
{
	return !engine.is_confined && !engine.is_stale && !engine.was_lax &&
	       !engine.n_sharers && !memory_limit_is_raised() && count_output_can_go_on();
}

void engine_begin_again(void)
{
	engine.is_turning = false;
	engine.are_away = 0;
	engine.finisher = 0;
	context_free_all();
	count_output_again();
}

void engine_init(void)
{
	forest_init(&engine.forest, reserve(sizeof(uint32_t) * PARTS_MAX), PARTS_MAX);
	low_init();
	place_init();
	code_change_init();
	indirect_init();
}
