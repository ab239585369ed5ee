/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/fingerprint.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/own.h"

#define BYTES(text) text, sizeof(text) - 1

static struct fingerprint take(const char *code, size_t size)
{
	struct fingerprint f = { 0 };

	fingerprint_take(&f, EM_X86_64, (const uint8_t *)code, size);
	return f;
}

static bool has_number(const struct fingerprint *f, uint64_t n)
{
	for (size_t i = 0; i < f->n_numbers; i++)
		if (f->numbers[i] == n)
			return true;
	return false;
}

static void numbers_are_constants_and_places_in_structures(void **state unused)
{
	own(fingerprint_fini) struct fingerprint f =
		take(BYTES("\xb8\x39\x30\x00\x00"	 /* mov $0x3039,%eax */
			   "\x8b\x47\x28"		 /* mov 0x28(%rdi),%eax */
			   "\x8b\x44\x24\x48"		 /* mov 0x48(%rsp),%eax */
			   "\x83\xc0\x02"		 /* add $2,%eax */
			   "\x8b\x05\x00\x10\x00\x00"	 /* mov 0x1000(%rip),%eax */
			   "\xe8\x00\x01\x00\x00"	 /* call +0x100 */
			   "\xb8\x39\x30\x00\x00\xc3")); /* again; ret */

	assert_int_equal(f.n_runs, 6);
	assert_int_equal(f.n_numbers, 2);
	assert_true(has_number(&f, 0x3039) && has_number(&f, 0x28));
}

static void other_registers_are_the_same_code(void **state unused)
{
	own(buf_fini) struct buf x = { 0 }, y = { 0 };

	for (unsigned i = 0; i < 8; i++) {
		buf_add(&x, "\x01\xd8\x29\xc8", 4); /* add %ebx,%eax; sub %ecx,%eax */
		buf_add(&y, "\x01\xf7\x29\xd7", 4); /* add %esi,%edi; sub %edx,%edi */
	}

	own(fingerprint_fini) struct fingerprint a = take((char *)x.data, x.size);
	own(fingerprint_fini) struct fingerprint b = take((char *)y.data, y.size);
	struct fingerprint_likeness l = fingerprint_compare(&a, &b);

	assert_true(l.has_code && l.is_same && l.runs == 1);
	assert_int_equal(l.n_numbers, 0);
}

/* A function compiled with other options: other instructions, the same numbers. */
static void numbers_alone_may_be_enough(void **state unused)
{
	own(buf_fini) struct buf x = { 0 }, y = { 0 };

	for (uint8_t i = 0; i < 6; i++) {
		uint8_t mov[] = { 0xb8, 0x11, (uint8_t)(0x40 + i), 0, 0 };
		uint8_t add[] = { 0x05, 0x11, (uint8_t)(0x40 + i), 0, 0 };

		buf_add(&x, mov, sizeof(mov));
		buf_add(&y, add, sizeof(add));
		buf_add(&y, "\x90", 1);
	}

	own(fingerprint_fini) struct fingerprint a = take((char *)x.data, x.size);
	own(fingerprint_fini) struct fingerprint b = take((char *)y.data, y.size);
	struct fingerprint_likeness l = fingerprint_compare(&a, &b);

	assert_true(l.runs == 0 && l.numbers == 1 && l.n_numbers == 6);
	assert_true(l.is_same);
}

static void little_code_is_like_any_other(void **state unused)
{
	own(fingerprint_fini) struct fingerprint a = take(BYTES("\x90\x90\x90\xc3"));
	struct fingerprint none = { 0 };

	assert_false(fingerprint_compare(&a, &a).is_same);
	assert_true(fingerprint_compare(&a, &a).is_like);
	assert_false(fingerprint_compare(&a, &none).has_code);
	assert_false(fingerprint_compare(&none, &none).is_like);
}

static void the_share_is_of_what_either_has(void **state unused)
{
	static const uint64_t a[] = { 1, 2, 2, 5 }, b[] = { 2, 3, 5, 9 };
	size_t n;

	assert_true(fingerprint_share(a, 4, b, 4, &n) == 2.0 / 6);
	assert_int_equal(n, 2);
	assert_true(fingerprint_share(a, 4, a, 4, NULL) == 1);
	assert_true(fingerprint_share(a, 0, b, 0, NULL) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_constants_and_places_in_structures),
		cmocka_unit_test(other_registers_are_the_same_code),
		cmocka_unit_test(numbers_alone_may_be_enough),
		cmocka_unit_test(little_code_is_like_any_other),
		cmocka_unit_test(the_share_is_of_what_either_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
