/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_flow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/x86_op.h"

static void what_goes_elsewhere_is_told_from_what_goes_on(void **state)
{
	static const struct {
		const char *bytes;
		enum x86_flow flow;
		int64_t imm;
	} t[] = {
		{ "\x74\xfe", X86_FLOW_CONDITIONAL, -2 },
		{ "\x0f\x85\x10\0\0\0", X86_FLOW_CONDITIONAL, 16 },
		{ "\xe3\x05", X86_FLOW_LOOP, 5 },
		{ "\xe2\xf0", X86_FLOW_LOOP, -16 },
		{ "\xeb\x10", X86_FLOW_JUMP, 16 },
		{ "\xe9\xff\xff\xff\xff", X86_FLOW_JUMP, -1 },
		{ "\xe8\x04\0\0\0", X86_FLOW_CALL, 4 },
		{ "\x67\xe8\x04\0\0\0", X86_FLOW_CALL, 4 },
		{ "\xff\xd0", X86_FLOW_CALL_TO, 0 },
		{ "\x41\xff\x54\xc4\x08", X86_FLOW_CALL_TO, 0 },
		{ "\xff\xe0", X86_FLOW_JUMP_TO, 0 },
		{ "\x3e\xff\xe0", X86_FLOW_JUMP_TO, 0 }, /* notrack */
		{ "\xf2\xff\x25\1\2\3\4", X86_FLOW_JUMP_TO, 0 },
		{ "\xff\x6b\x08", X86_FLOW_FAR, 0 },
		{ "\xc3", X86_FLOW_RETURN, 0 },
		{ "\xf3\xc3", X86_FLOW_RETURN, 0 },
		{ "\xc2\x10\0", X86_FLOW_RETURN, 16 },
		{ "\xcb", X86_FLOW_FAR, 0 },
		{ "\x48\xcf", X86_FLOW_FAR, 0 },
		{ "\x0f\x05", X86_FLOW_SYSCALL, 0 },
		{ "\xcd\x80", X86_FLOW_INT80, -128 },
		{ "\xcd\x03", X86_FLOW_TRAP, 3 },
		{ "\xcc", X86_FLOW_TRAP, 0 },
		{ "\x0f\x0b", X86_FLOW_NEVER, 0 },
		{ "\xf4", X86_FLOW_NEVER, 0 },
		{ "\xc7\xf8\x10\0\0\0", X86_FLOW_TRANSACTION, 16 },
		{ "\xc7\xc0\x10\0\0\0", X86_FLOW_ON, 16 },
		{ "\xff\xc0", X86_FLOW_ON, 0 }, /* inc */
		{ "\xff\x30", X86_FLOW_ON, 0 }, /* push */
		{ "\x0f\x84\xc3", X86_FLOW_CONDITIONAL, 0xc3 },
		{ "\xc5\xf8\x80\0", X86_FLOW_ON,
		  0 }, /* a vector's opcode of the number */
		{ "\x90", X86_FLOW_ON, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint8_t bytes[X86_OP_MAX_BYTES] = { 0 };
		struct x86_op op;

		memcpy(bytes, t[i].bytes, strlen(t[i].bytes));
		assert_true(x86_op_read(bytes, &op));
		assert_int_equal(x86_flow_of(&op), t[i].flow);
		assert_int_equal(op.imm, t[i].imm);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_elsewhere_is_told_from_what_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
