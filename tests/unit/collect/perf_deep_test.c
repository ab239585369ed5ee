/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_deep.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/perf_deep_code.h"
#include "collect/perf_near_code.h"

static bool is_jump(const struct bpf_insn *x)
{
	uint8_t op = x->code & 0xf0;

	return (x->code & 7) == BPF_JMP && op != BPF_CALL && op != BPF_EXIT;
}

static void check_jumps(const struct bpf_insn *code, size_t n)
{
	assert_in_range(n, 1, PERF_DEEP_CODE_MAX);
	assert_int_equal(code[n - 1].code, BPF_JMP | BPF_EXIT);
	for (size_t i = 0; i < n; i++) {
		size_t to = i + 1 + (size_t)(ptrdiff_t)code[i].off;

		if (!is_jump(&code[i]))
			continue;
		assert_in_range(to, 0, n - 1);
		/* not into the second half of a 16-byte instruction */
		assert_true(to == 0 || code[to - 1].code != (BPF_LD | BPF_DW | BPF_IMM));
	}
}

static void every_jump_leads_to_an_instruction(void **state)
{
	struct perf_deep_code_input in = { .limit_bytes = 1 << 20 };
	struct perf_near_code_input near = { .stack_bytes = 1 << 20 };
	struct bpf_insn code[PERF_DEEP_CODE_MAX];

	(void)state;
	check_jumps(code, perf_deep_code(&in, code));
	check_jumps(code, perf_deep_code_entry(&in, 0, 7, code));
	check_jumps(code, perf_near_code(&near, code));
}

/* Without the helpers that find a task's registers. */
static bool is_old_kernel(void)
{
	struct utsname u;
	int major = 0, minor = 0;

	uname(&u);
	return sscanf(u.release, "%d.%d", &major, &minor) != 2 || major < 5 ||
	       (major == 5 && minor < 15);
}

static void the_kernel_accepts_the_program_at_every_limit(void **state)
{
	static const uint32_t limits[] = { 4096, 64 << 10, 256 << 10, 1 << 20 };

	(void)state;
	if (geteuid() != 0)
		skip();
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct perf_deep *d = NULL;
		struct err e = { 0 };

		if (perf_deep_new(4, limits[i], true, &d, &e) < 0) {
			if (e.os == EPERM || e.os == ENOSYS || is_old_kernel())
				skip();
			fail_msg("%s", e.text);
		}
		assert_true(perf_deep_has_near(d));
		perf_deep_free(d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_jump_leads_to_an_instruction),
		cmocka_unit_test(the_kernel_accepts_the_program_at_every_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
