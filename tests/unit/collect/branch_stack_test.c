/* SPDX-License-Identifier: Apache-2.0
 * Entries as the kernel writes them, of code that is here. */
#include "collect/branch_stack.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/own.h"

#define AT 0x400000

/* 0: test %rax,%rax; 3: je 0x10; 5: dec %rcx; 8: jne 0; a: jmp *%rdx; c: call 0x10;
 * 11 and on: nops; 0x14: ret */
static const char code[] =
	"\x48\x85\xc0\x74\x0b\x48\xff\xc9\x75\xf6\xff\xe2\xe8\x04\x00\x00"
	"\x00\x90\x90\x90\xc3";

static unsigned read_code(void *ctx, uint64_t addr, uint8_t *to)
{
	size_t at = (size_t)(addr - AT), size = sizeof(code) - 1, n;

	(void)ctx;
	if (at >= size)
		return 0;
	n = size - at < FORWARD_CODE_BYTES ? size - at : FORWARD_CODE_BYTES;
	memcpy(to, code + at, n);
	return (unsigned)n;
}

/* "3>5 8>0! ": a passage, foreseen wrongly; a dot: rightly. */
static void note(void *ctx, const struct branch_stack_passage *p)
{
	buf_printf(ctx, "%" PRIx64 ">%" PRIx64 "%s%s ", p->branch - AT, p->to - AT,
		   p->is_missed ? "!" : "", p->is_foreseen ? "." : "");
}

struct stack_case {
	struct perf_branch_entry entries[4];
	unsigned n;
	uint64_t ip;
	const char *passages;
};

#define ENTRY(f, t, ...)                                                                 \
	{                                                                                \
		.from = AT + (f), .to = AT + (t), __VA_ARGS__                            \
	}

static void check(const struct stack_case *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		own(buf_fini) struct buf b = { 0 };
		struct branch_stack s = { (const uint8_t *)t[i].entries, t[i].n,
					  t[i].ip };

		branch_stack_each(&s, read_code, note, &b);
		if (strcmp(buf_str(&b), t[i].passages) != 0)
			print_error("# case %zu: %s\n", i, buf_str(&b));
		assert_string_equal(buf_str(&b), t[i].passages);
	}
}

static void passages_come_in_their_order(void **state)
{
	static const struct stack_case t[] = {
		/* the newest first: two turns of the loop, and on to the indirect jump */
		{ { ENTRY(0xa, 0x11, .predicted = 1), ENTRY(8, 0, .mispred = 1),
		    ENTRY(8, 0, .predicted = 1) },
		  3,
		  AT + 0x13,
		  "8>0. 3>5 8>0! 3>5 8>a a>11. " },
		/* up to the sample */
		{ { ENTRY(8, 0) }, 1, AT + 5, "8>0 3>5 " },
		/* taken: forwards; the call and the return are the same each time */
		{ { ENTRY(0x14, 0x11), ENTRY(0xc, 0x11), ENTRY(3, 0xc) },
		  3,
		  AT + 0x12,
		  "3>c " },
	};

	(void)state;
	check(t, sizeof(t) / sizeof(t[0]));
}

static void what_does_not_fit_is_left_out(void **state)
{
	static const struct stack_case t[] = {
		/* there is no branch; from the kernel; nothing; undone */
		{ { ENTRY(1, 0), { .from = 0xffffffff81000000, .to = AT } },
		  2,
		  AT + 5,
		  "3>5 " },
		{ { { 0 }, ENTRY(8, 0) }, 2, AT + 5, "8>0 " },
		{ { ENTRY(8, 0, .abort = 1) }, 1, AT, "" },
		/* where the sample was, the last one does not lead */
		{ { ENTRY(8, 0) }, 1, AT + 0x12, "8>0 " },
		{ { { 0 } }, 0, AT, "" },
	};

	(void)state;
	check(t, sizeof(t) / sizeof(t[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(passages_come_in_their_order),
		cmocka_unit_test(what_does_not_fit_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
