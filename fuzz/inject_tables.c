/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "collect/inject_calls.h"
#include "collect/inject_cells.h"
#include "collect/inject_slots.h"
#include "collect/inject_stack.h"

/* The input is memory of a process, where addresses are small enough to be met; the
 * linker tells of its objects at its beginning. */
#define BASE UINT64_C(0x10000)
/* An object's file is all of it. */
#define MAPS "10000-20000 r--p 00000000 08:01 42 /x\n"

struct input {
	const uint8_t *data;
	size_t size;
};

static bool read_input(void *ctx, uint64_t at, void *to, size_t bytes)
{
	const struct input *in = ctx;

	if (at < BASE || at - BASE > in->size || bytes > in->size - (at - BASE))
		return false;
	memcpy(to, in->data + (at - BASE), bytes);
	return true;
}

static bool is_inside(void *ctx, uint64_t at, uint64_t value)
{
	uint64_t was;

	(void)value;
	if (!read_input(ctx, at, &was, sizeof(was)))
		__builtin_trap(); /* what cannot be read was not understood */
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct inject_memory m = { read_input, &in };
	struct inject_objects objects = { 0 };
	struct inject_slots slots = { 0 };
	struct inject_cells cells = { 0 };
	struct inject_calls calls;

	inject_objects_debug(&m, BASE, size / 56);
	if (inject_objects_read(&m, BASE, &objects, NULL) == 0) {
		if (objects.at.n > 8) /* the same again and again */
			objects.at.n = 8;
		inject_calls_find(&calls, &m, &objects);
		for (unsigned k = 0; k < INJECT_N_CALLS; k++)
			calls.wrapper[k] = 1;
		inject_slots_find(&slots, &calls, &m, &objects);
		inject_slots_patch(&slots, &calls, &m, 1, 2, is_inside, &in);
		inject_cells_find(&cells, &m, &objects, MAPS, sizeof(MAPS) - 1);
		inject_cells_lead(&cells, &m, 1, 2, 3, is_inside, &in);
	}
	inject_stack_leads(&m, BASE, 1, 2);
	inject_slots_fini(&slots);
	inject_cells_fini(&cells);
	inject_objects_fini(&objects);
	return 0;
}
