/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/instruction_kind.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *code;
	size_t size;
	const char *kind, *form; /* NULL: none */
	bool loads, stores;
} known[] = {
	{ "\x48\x89\xe5", 3, "move", NULL, false, false },	     /* mov %rsp,%rbp */
	{ "\x8b\x4c\x87\x08", 4, "load", "indexed", true, false },   /* mov 8(,,) */
	{ "\x88\x07", 2, "store", "base", false, true },	     /* mov %al,(%rdi) */
	{ "\x0f\xb6\x47\x01", 4, "load", "displaced", true, false }, /* movzbl 1() */
	{ "\x48\x8b\x04\xc5\0\0\0\0", 8, "load", "index-only", true, false },
	{ "\x48\x8b\x05\0\0\0\0", 7, "load", "ip-relative", true, false },
	{ "\x64\x8b\x04\x25\x28\0\0\0", 8, "load", "segment", true, false },
	{ "\x8b\x04\x25\x28\0\0\0", 7, "load", "absolute", true, false },
	{ "\x53", 1, "stack", NULL, false, true },		      /* push %rbx */
	{ "\xff\x37", 2, "stack", "base", true, true },		      /* push (%rdi) */
	{ "\x48\x0f\x44\xc1", 4, "conditional", NULL, false, false }, /* cmove */
	{ "\x0f\x94\x06", 3, "conditional", "base", false, true },    /* sete (%rsi) */
	{ "\x48\x8d\x47\x08", 4, "address", NULL, false, false },     /* lea */
	{ "\x48\x0f\xaf\xc1", 4, "multiply", NULL, false, false },
	{ "\x48\xf7\xf1", 3, "divide", NULL, false, false },
	{ "\x75\x00", 2, "branch", NULL, false, false },
	{ "\xeb\x00", 2, "jump", NULL, false, false },
	{ "\xff\xe0", 2, "indirect-jump", NULL, false, false },
	{ "\xe8\0\0\0\0", 5, "call", NULL, false, true },
	{ "\xff\x15\0\0\0\0", 6, "indirect-call", "ip-relative", true, true },
	{ "\xc3", 1, "return", NULL, true, false },
	{ "\xf2\x0f\x58\xc1", 4, "scalar", NULL, false, false },     /* addsd */
	{ "\xf2\x0f\x10\x07", 4, "scalar", "base", true, false },    /* movsd load */
	{ "\x66\x0f\x58\xc1", 4, "vector-128", NULL, false, false }, /* addpd */
	{ "\xc5\xed\x58\xc1", 4, "vector-256", NULL, false, false }, /* vaddpd ymm */
	{ "\x62\xf1\xed\x48\x58\xc1", 6, "vector-512", NULL, false, false },
	{ "\xd8\xc1", 2, "x87", NULL, false, false },		     /* fadd */
	{ "\xf0\x48\x83\x06\x01", 5, "atomic", "base", true, true }, /* lock addq */
	{ "\x0f\xae\xf0", 3, "atomic", NULL, false, false },	     /* mfence */
	{ "\xf3\xa4", 2, "string", "string", true, true },	     /* rep movsb */
	{ "\x0f\x05", 2, "system", NULL, false, false },
	{ "\x0f\x18\x0f", 3, "prefetch", NULL, false, false },
	{ "\x66\x0f\x1f\x44\x00\x00", 6, "nothing", NULL, false, false },
	{ "\xc5\xf8\x77", 3, "nothing", NULL, false, false }, /* vzeroupper */
	/* vpminub %ymm17,%ymm18,%ymm16, which the decoder may not know */
	{ "\x62\xa1\x6d\x20\xda\xc1", 6, NULL, NULL, false, false },
};

static void instructions_are_of_one_kind_and_form(void **state)
{
	own(operation_reader_freep) struct operation_reader *r = NULL;
	struct operation o;

	(void)state;
	assert_int_equal(operation_reader_new(EM_X86_64, &r, NULL), 0);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		enum instruction_kind_form form;
		const char *kind;

		assert_true(operation_read(r, (const uint8_t *)known[i].code,
					   known[i].size, 0, &o));
		assert_int_equal(o.size, known[i].size);
		kind = instruction_kind_key(instruction_kind_of(&o));
		if (known[i].kind)
			assert_string_equal(kind, known[i].kind);
		else
			assert_true(!strcmp(kind, "vector-256") ||
				    !strcmp(kind, "unknown"));
		form = instruction_kind_form(&o);
		assert_int_equal(form != INSTRUCTION_KIND_N_FORMS, !!known[i].form);
		if (known[i].form)
			assert_string_equal(instruction_kind_form_key(form),
					    known[i].form);
		assert_int_equal(instruction_kind_loads(&o), known[i].loads);
		assert_int_equal(instruction_kind_stores(&o), known[i].stores);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_are_of_one_kind_and_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
