/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "unwind/abi.h"
#include "unwind/cfa_expr.h"

#define MINUS(n) (UINT64_C(0) - (n))

static const uint64_t words[2] = { 0x1111, 0x1122334455667788 };
static const struct stack_memory memory = { (const uint8_t *)words, 0x6000, sizeof(words),
					    NULL, NULL };

static enum cfa_expr_result eval(const char *bytes, size_t size, uint64_t *ret)
{
	struct unwind_regs g = { .valid = abi_bit(7) };
	struct cfa_expr_input in = { &g, &memory, NULL };

	g.r[7] = 0x6000;
	return cfa_expr_eval((const uint8_t *)bytes, size, &in, ret);
}

struct value_case {
	const char *bytes;
	size_t size;
	uint64_t value;
};

static void check_values(const struct value_case *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t v = 0;

		assert_int_equal(eval(t[i].bytes, t[i].size, &v), CFA_EXPR_OK);
		assert_int_equal(v, t[i].value);
	}
}

static void constants_and_places_have_their_values(void **state)
{
	static const struct value_case t[] = {
		{ "\x4f", 1, 31 },
		{ "\x08\xff", 2, 0xff },
		{ "\x09\xff", 2, MINUS(1) },
		{ "\x0a\xfe\xff", 3, 0xfffe },
		{ "\x0b\xfe\xff", 3, MINUS(2) },
		{ "\x0c\xfe\xff\xff\xff", 5, 0xfffffffe },
		{ "\x0d\xfe\xff\xff\xff", 5, MINUS(2) },
		{ "\x0e\1\2\3\4\5\6\7\x08", 9, 0x0807060504030201 },
		{ "\x0f\xff\xff\xff\xff\xff\xff\xff\xff", 9, MINUS(1) },
		{ "\x03\1\2\3\4\5\6\7\x08", 9, 0x0807060504030201 },
		{ "\x10\x80\x01", 3, 128 },
		{ "\x11\x7f", 2, MINUS(1) },
		/* the stack: 3 4 5 and what becomes of it; the top is the value */
		{ "\x33\x34\x12\x1e", 4, 16 },	  /* dup */
		{ "\x33\x34\x13", 3, 3 },	  /* drop */
		{ "\x33\x34\x14\x1c", 4, 1 },	  /* over: 4 - 3 */
		{ "\x33\x34\x35\x15\x02", 5, 3 }, /* pick */
		{ "\x33\x34\x16", 3, 3 },	  /* swap */
		{ "\x33\x34\x35\x17", 4, 4 },	  /* rot: 5 3 4 */
		{ "\x33\x34\x35\x17\x13", 5, 3 },
		{ "\x33\x34\x35\x17\x13\x13", 6, 5 },
		/* registers and memory */
		{ "\x77\x08", 2, 0x6008 },
		{ "\x77\x78", 2, 0x5ff8 },
		{ "\x92\x07\x08", 3, 0x6008 },
		{ "\x77\x08\x06", 3, 0x1122334455667788 },
		{ "\x77\x08\x94\x01", 4, 0x88 },
		{ "\x77\x08\x94\x02", 4, 0x7788 },
		{ "\x77\x08\x94\x04", 4, 0x55667788 },
		{ "\x77\x08\x94\x08", 4, 0x1122334455667788 },
		/* control */
		{ "\x33\x96", 2, 3 },
		{ "\x33\x2f\x01\x00\x35", 5, 3 },
		{ "\x31\x28\x01\x00\x35\x33", 6, 3 },
		{ "\x37\x30\x28\x01\x00\x35", 6, 5 },
	};

	(void)state;
	check_values(t, sizeof(t) / sizeof(t[0]));
}

static void arithmetic_is_dwarfs(void **state)
{
	static const struct value_case t[] = {
		/* one operand */
		{ "\x09\xff\x19", 3, 1 },
		{ "\x33\x19", 2, 3 },
		{ "\x33\x1f", 2, MINUS(3) },
		{ "\x33\x20", 2, ~UINT64_C(3) },
		{ "\x33\x23\x80\x01", 4, 131 },
		/* two */
		{ "\x3c\x3a\x1a", 3, 8 },
		{ "\x09\xf9\x32\x1b", 4, MINUS(3) }, /* -7 / 2 */
		{ "\x33\x34\x1c", 3, MINUS(1) },
		{ "\x09\xff\x3a\x1d", 4, 5 }, /* without sign */
		{ "\x33\x34\x1e", 3, 12 },
		{ "\x3c\x3a\x21", 3, 14 },
		{ "\x33\x34\x22", 3, 7 },
		{ "\x33\x34\x24", 3, 48 },
		{ "\x33\x08\x40\x24", 4, 0 },
		{ "\x09\xff\x08\x3c\x25", 5, 15 },
		{ "\x09\xff\x08\x40\x25", 5, 0 },
		{ "\x09\xf0\x32\x26", 4, MINUS(4) },
		{ "\x09\xf0\x08\x40\x26", 5, MINUS(1) },
		{ "\x3c\x3a\x27", 3, 6 },
		/* comparisons have signs: -1 with 2 */
		{ "\x09\xff\x32\x29", 4, 0 },
		{ "\x09\xff\x32\x2a", 4, 0 },
		{ "\x09\xff\x32\x2b", 4, 0 },
		{ "\x09\xff\x32\x2c", 4, 1 },
		{ "\x09\xff\x32\x2d", 4, 1 },
		{ "\x09\xff\x32\x2e", 4, 1 },
		{ "\x32\x32\x2a", 3, 1 },
		{ "\x32\x32\x2b", 3, 0 },
	};

	(void)state;
	check_values(t, sizeof(t) / sizeof(t[0]));
}

static void what_has_no_value_is_told_apart(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
		enum cfa_expr_result result;
	} t[] = {
		{ "", 0, CFA_EXPR_BAD },
		{ "\x31\x30\x1b", 3, CFA_EXPR_BAD }, /* 1 / 0 */
		{ "\x31\x30\x1d", 3, CFA_EXPR_BAD },
		{ "\x31\x08\x3f\x24\x09\xff\x1b", 7, CFA_EXPR_BAD }, /* least / -1 */
		{ "\x22", 1, CFA_EXPR_BAD },			     /* nothing to add */
		{ "\x31\x22", 2, CFA_EXPR_BAD },
		{ "\x31\x15\x01", 3, CFA_EXPR_BAD }, /* pick below the bottom */
		{ "\x0e\x01", 2, CFA_EXPR_BAD },     /* cut constant */
		{ "\x2f\xfd\xff", 3, CFA_EXPR_BAD }, /* jumps to itself */
		{ "\x2f\xfc\xff", 3, CFA_EXPR_BAD }, /* before the start */
		{ "\x2f\x01\x00", 3, CFA_EXPR_BAD }, /* beyond the end */
		{ "\x50", 1, CFA_EXPR_BAD },	     /* reg0 is no value */
		{ "\x77\x00\x94\x03", 4, CFA_EXPR_BAD },
		{ "\x77\x00\x94\x00", 4, CFA_EXPR_BAD },
		{ "\x92\x63\x00", 3, CFA_EXPR_BAD },  /* register 99 */
		{ "\x73\x00", 2, CFA_EXPR_NO_VALUE }, /* rbx is not known */
		{ "\x92\x03\x00", 3, CFA_EXPR_NO_VALUE },
		{ "\x08\x58\x06", 3, CFA_EXPR_MEMORY },
	};
	uint64_t v = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(eval(t[i].bytes, t[i].size, &v), t[i].result);
	assert_int_equal(v, 0x58); /* the address that cannot be read */
}

static void the_stack_has_an_end(void **state)
{
	char bytes[CFA_EXPR_STACK + 1];
	uint64_t v;

	(void)state;
	memset(bytes, 0x31, sizeof(bytes));
	assert_int_equal(eval(bytes, CFA_EXPR_STACK, &v), CFA_EXPR_OK);
	assert_int_equal(eval(bytes, CFA_EXPR_STACK + 1, &v), CFA_EXPR_BAD);
}

static void a_register_rule_begins_with_the_cfa(void **state)
{
	struct unwind_regs g = { 0 };
	uint64_t cfa = 0x6000, v = 0;
	struct cfa_expr_input in = { &g, &memory, &cfa };

	(void)state;
	assert_int_equal(cfa_expr_eval((const uint8_t *)"\x23\x08", 2, &in, &v),
			 CFA_EXPR_OK);
	assert_int_equal(v, 0x6008);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(constants_and_places_have_their_values),
		cmocka_unit_test(arithmetic_is_dwarfs),
		cmocka_unit_test(what_has_no_value_is_told_apart),
		cmocka_unit_test(the_stack_has_an_end),
		cmocka_unit_test(a_register_rule_begins_with_the_cfa),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
