/* SPDX-License-Identifier: Apache-2.0 */
#include "count/engine.h"

#include "count/code_change.h"
#include "count/indirect.h"
#include "count/low.h"
#include "count/place.h"
#include "count/reserve.h"

#define PARTS_MAX 0x2000000u

struct engine engine;

void engine_init(void)
{
	forest_init(&engine.forest, reserve(sizeof(uint32_t) * PARTS_MAX), PARTS_MAX);
	low_init();
	place_init();
	code_change_init();
	indirect_init();
}
