/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_straight.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define AT 0x1000

struct code {
	const char *bytes;
	size_t size;
};

static unsigned read_code(void *ctx, uint64_t addr, uint8_t *to)
{
	const struct code *c = ctx;
	size_t at = (size_t)(addr - AT), n;

	if (at >= c->size)
		return 0;
	n = c->size - at < FORWARD_CODE_BYTES ? c->size - at : FORWARD_CODE_BYTES;
	memcpy(to, c->bytes + at, n);
	return (unsigned)n;
}

/* 0: nop; 1: je 0; 3: add $1,%rax; 7: loop 0; 9: jne 9+6+0x100; f: jmp 0; 11: ret */
static struct code code = { "\x90\x74\xfd\x48\x83\xc0\x01\xe2\xf7\x0f\x85\x00\x01\x00\x00"
			    "\xeb\xef\xc3",
			    18 };

static bool go(uint64_t from, uint64_t to, struct x86_straight *ret)
{
	return x86_straight(AT + from, AT + to, read_code, &code, ret);
}

static void branches_on_the_way_were_not_taken(void **state)
{
	struct x86_straight s;

	(void)state;
	assert_true(go(0, 0xf, &s));
	assert_int_equal(s.n, 3);
	assert_int_equal(s.not_taken[0].addr, AT + 1);
	assert_int_equal(s.not_taken[0].next, AT + 3);
	assert_int_equal(s.not_taken[1].addr, AT + 7);
	assert_int_equal(s.not_taken[2].next, AT + 0xf);
	/* The branch at its end may have been taken. */
	assert_true(go(0, 7, &s));
	assert_int_equal(s.n, 1);
	assert_true(go(5, 5, &s));
	assert_int_equal(s.n, 0);
}

static void what_does_not_lead_there_is_refused(void **state)
{
	struct x86_straight s;

	(void)state;
	assert_false(go(0, 2, &s));    /* within an instruction */
	assert_false(go(0, 0x11, &s)); /* over a jump */
	assert_false(go(9, 1, &s));    /* backwards */
	assert_false(go(0x11, 0x20, &s));
	assert_false(go(0x20, 0x30, &s));
}

static void there_is_an_end(void **state)
{
	static char many[2000];
	struct code nops = { many, sizeof(many) };
	struct x86_straight s;

	(void)state;
	memset(many, 0x90, sizeof(many));
	assert_true(x86_straight(AT, AT + X86_STRAIGHT_MAX_INSNS, read_code, &nops, &s));
	assert_false(
		x86_straight(AT, AT + X86_STRAIGHT_MAX_INSNS + 1, read_code, &nops, &s));
	for (unsigned i = 0; i < sizeof(many); i += 2)
		memcpy(many + i, "\x74", 2); /* je to the next */
	assert_true(x86_straight(AT, AT + 64, read_code, &nops, &s));
	assert_int_equal(s.n, X86_STRAIGHT_MAX);
	assert_false(x86_straight(AT, AT + 66, read_code, &nops, &s));
}

static void instructions_tell_where_they_go_on(void **state)
{
	enum x86_flow flow;

	(void)state;
	assert_true(x86_straight_flow(AT + 7, read_code, &code, &flow));
	assert_int_equal(flow, X86_FLOW_LOOP);
	assert_true(x86_straight_flow(AT + 0x11, read_code, &code, &flow));
	assert_int_equal(flow, X86_FLOW_RETURN);
	assert_false(x86_straight_flow(AT + 0x12, read_code, &code, &flow));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branches_on_the_way_were_not_taken),
		cmocka_unit_test(what_does_not_lead_there_is_refused),
		cmocka_unit_test(there_is_an_end),
		cmocka_unit_test(instructions_tell_where_they_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
