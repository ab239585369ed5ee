/* SPDX-License-Identifier: Apache-2.0 */
#include "waiting_loop.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

#define MAX_CODE 64

/* What loops end with: their last byte goes back, and another instruction returns. */
static size_t put_tail(unsigned machine, uint8_t *code, size_t size)
{
	/* subs x7, x7, #1; b.ne back; ret */
	static const uint8_t aarch64[12] = { 0xe7, 0x04, 0,    0xf1, 0x01, 0,
					     0,	   0x54, 0xc0, 0x03, 0x5f, 0xd6 };
	static const uint8_t x86[6] = { 0x48, 0xff, 0xcf, 0x75, 0, 0xc3 }; /* dec; jnz */
	uint32_t back = (uint32_t) - (int)(size / 4 + 1) & 0x7ffff;

	if (machine == EM_X86_64) {
		memcpy(code + size, x86, sizeof(x86));
		code[size + 4] = (uint8_t) - (int)(size + 5);
		return sizeof(x86);
	}
	memcpy(code + size, aarch64, sizeof(aarch64));
	code[size + 4] |= (uint8_t)(back << 5);
	code[size + 5] = (uint8_t)(back >> 3);
	code[size + 6] = (uint8_t)(back >> 11);
	return sizeof(aarch64);
}

/* A loop of the code, whose steps take WAITING_LOOP_BEST, but for one; entered once. */
void waiting_loop_make_of(unsigned machine, struct function_code *c, const char *body,
			  size_t size, uint32_t waits)
{
	uint8_t code[MAX_CODE];
	struct procedure_range range = { .address = WAITING_LOOP_START, .code = code };
	struct procedure_options o = { .machine = machine,
				       .ranges = &range,
				       .n_ranges = 1,
				       .entry = WAITING_LOOP_START };
	own(operation_reader_freep) struct operation_reader *r = NULL;
	uint32_t n_end;

	memcpy(code, body, size);
	range.size = size + put_tail(machine, code, size);
	*c = (struct function_code){ .is_alone = true };
	assert_int_equal(procedure_new(&o, &c->procedure, NULL), 0);
	assert_int_equal(c->procedure->n_blocks, 2);
	assert_int_equal(operation_reader_new(machine, &r, NULL), 0);
	c->steps = xcalloc(c->procedure->n_steps + 1, sizeof(*c->steps));
	c->blocks = xcalloc(3, sizeof(*c->blocks));
	c->ways = xcalloc(c->procedure->n_ways + 1, sizeof(*c->ways));
	for (uint32_t i = 0; i < c->procedure->n_steps; i++) {
		struct function_code_step *s = &c->steps[i];
		uint64_t at = c->procedure->steps[i].address - WAITING_LOOP_START;

		assert_true(operation_read(r, code + at, range.size - at,
					   WAITING_LOOP_START + at, &s->operation));
		s->times = i + 1 == c->procedure->n_steps ? 1 : WAITING_LOOP_TIMES;
		s->ideal = WAITING_LOOP_BEST;
		s->waits[SCHEDULE_WAIT_DEPENDENCY] = WAITING_LOOP_BEST / 5;
	}
	c->blocks[0] = (struct function_code_block){ .times = WAITING_LOOP_TIMES };
	c->blocks[0].ideal = WAITING_LOOP_BEST * c->procedure->blocks[0].n_steps;
	c->blocks[0].cycles = c->blocks[0].ideal * WAITING_LOOP_TIMES +
			      WAITING_LOOP_WAITED * WAITING_LOOP_TIMES;
	c->blocks[0].samples = (uint64_t)(c->blocks[0].cycles / WAITING_LOOP_SAMPLE);
	c->blocks[1] =
		(struct function_code_block){ .times = 1, .ideal = WAITING_LOOP_BEST };
	for (uint32_t i = 0; i < c->procedure->n_ways; i++) {
		const struct procedure_way *w = &c->procedure->ways[i];

		c->ways[i].times =
			w->from == 0 && w->to == 0 ? WAITING_LOOP_TIMES - 1 : 1;
	}
	/* No ranges. */
	for (uint32_t i = 0; i < c->procedure->n_blocks; i++)
		c->blocks[i].times_low = c->blocks[i].times_high = c->blocks[i].times;
	for (uint32_t i = 0; i < c->procedure->n_ways; i++)
		c->ways[i].times_low = c->ways[i].times_high = c->ways[i].times;
	/* The end's samples land at the begin; a branch may be one with what is before.
	 */
	n_end = c->steps[c->procedure->blocks[0].n_steps - 2]
				.operation.may_fuse_with_branch
			? 2
			: 1;
	for (uint32_t i = 0; i + n_end < c->procedure->blocks[0].n_steps; i++)
		c->steps[i].cycles = WAITING_LOOP_BEST * WAITING_LOOP_TIMES;
	c->blocks[0].arrival = n_end * WAITING_LOOP_BEST * WAITING_LOOP_TIMES;
	c->steps[waits].cycles += WAITING_LOOP_WAITED * WAITING_LOOP_TIMES;
	c->cycles = c->blocks[0].cycles;
	c->samples = c->blocks[0].samples;
}

void waiting_loop_make(struct function_code *c, const char *body, size_t size,
		       uint32_t waits)
{
	waiting_loop_make_of(EM_X86_64, c, body, size, waits);
}
