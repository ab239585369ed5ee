/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/image_ref.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/own.h"

#define ID(s) .build_id = (const uint8_t *)(s), .build_id_size = sizeof(s) - 1

static const struct {
	struct sym_image_ref a, b;
	bool is_same;
} pairs[] = {
	/* by build-id, wherever it is */
	{ { SYM_ELF, "/bin/a", ID("one") }, { SYM_ELF, "/bin/b", ID("one") }, true },
	{ { SYM_ELF, "/bin/a", ID("one") }, { SYM_ELF, "/bin/a", ID("two") }, false },
	{ { SYM_ELF, "/bin/a", ID("one") }, { SYM_ELF, "/bin/a" }, false },
	{ { SYM_ELF, "/bin/a", ID("one"), .recording = 1 },
	  { SYM_ELF, "/bin/a", ID("one"), .recording = 2 },
	  true },
	/* else by path, size and time */
	{ { SYM_ELF, "/bin/a" }, { SYM_ELF, "/bin/a" }, true },
	{ { SYM_ELF, "/bin/a" }, { SYM_ELF, "/bin/b" }, false },
	{ { SYM_ELF, "/bin/a", .recording = 1 },
	  { SYM_ELF, "/bin/a", .recording = 2 },
	  false },
	{ { SYM_ELF, "/bin/a", .recording = 1, .size_bytes = 9, .mtime_s = 5 },
	  { SYM_ELF, "/bin/a", .recording = 2, .size_bytes = 9, .mtime_s = 5 },
	  true },
	{ { SYM_ELF, "/bin/a", .size_bytes = 9, .mtime_s = 5 },
	  { SYM_ELF, "/bin/a", .size_bytes = 9, .mtime_s = 6 },
	  false },
	/* what is no file is another one in each recording */
	{ { SYM_JIT, "[jit]", .pid = 7 }, { SYM_JIT, "[jit]", .pid = 7 }, true },
	{ { SYM_JIT, "[jit]", .pid = 7 }, { SYM_JIT, "[jit]", .pid = 8 }, false },
	{ { SYM_JIT, "[jit]", .pid = 7, .recording = 1 },
	  { SYM_JIT, "[jit]", .pid = 7, .recording = 2 },
	  false },
	{ { SYM_KERNEL, "[kernel]", ID("one"), .recording = 1 },
	  { SYM_KERNEL, "[kernel]", ID("one"), .recording = 2 },
	  false },
	{ { SYM_MODULE, "[ext4]" }, { SYM_MODULE, "[xfs]" }, false },
};

static void
files_are_the_same_everywhere_and_all_else_in_its_recording(void **state unused)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const struct sym_image_ref *a = &pairs[i].a, *b = &pairs[i].b;

		if (image_ref_is_same(a, b) != pairs[i].is_same ||
		    image_ref_is_same(b, a) != pairs[i].is_same)
			fail_msg("pair %zu", i);
		if (pairs[i].is_same)
			assert_true(image_ref_hash(a) == image_ref_hash(b));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			files_are_the_same_everywhere_and_all_else_in_its_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
