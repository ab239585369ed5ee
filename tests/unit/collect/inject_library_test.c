/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_library.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "collect/inject_calls.h"
#include "wire/injected.h"
#include "wire/tracer_library.h"

#define AT UINT64_C(0x468000004000)

static uint64_t resolve(void *ctx, const char *name)
{
	unsigned *n = ctx;

	*n += !strcmp(name, "_dl_find_object");
	return 0;
}

static int make(struct inject_library *ret)
{
	unsigned n = 0;
	int rc = inject_library_make(tracer_injected, tracer_injected_size, AT, resolve,
				     &n, ret, NULL);

	assert_true(rc < 0 || n);
	return rc;
}

static void a_library_has_its_entries_and_every_wrapper(void **state)
{
	static const char *const names[] = {
#define CALL(trace, name) #name,
#define HELPER(name)
#define ALWAYS(name)   #name,
#define AT_END(name)   #name,
#define EXECUTES(name) #name,
#include "wire/tracer_calls.def"
#undef EXECUTES
#undef AT_END
#undef CALL
#undef HELPER
#undef ALWAYS
		WIRE_INJECTED_ARM, WIRE_INJECTED_BEGIN, WIRE_INJECTED_DISARM,
		WIRE_INJECTED_END
	};
	struct inject_library l;

	(void)state;
	if (!tracer_injected_size)
		skip();
	assert_int_equal(make(&l), 0);
	assert_true(l.code_bytes < l.bytes && l.file_bytes <= l.bytes);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t at = inject_library_find(&l, names[i]);

		assert_true(at > AT && at < AT + l.code_bytes);
	}
	assert_true(inject_library_find(&l, WIRE_INJECTED_FPE) >= AT + l.code_bytes);
	assert_int_equal(inject_library_find(&l, "_dl_find_object"), 0);
	inject_library_fini(&l);
}

static void one_that_is_cut_is_damaged(void **state)
{
	unsigned n = 0;

	(void)state;
	if (!tracer_injected_size)
		skip();
	for (size_t size = 0; size < tracer_injected_size; size += 997) {
		own(freep) uint8_t *cut = xcalloc(1, size + 1);
		struct inject_library l = { 0 };

		memcpy(cut, tracer_injected, size);
		if (inject_library_make(cut, size, AT, resolve, &n, &l, NULL) == 0)
			inject_library_fini(&l); /* its sections alone were cut */
		else
			assert_null(l.image);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_has_its_entries_and_every_wrapper),
		cmocka_unit_test(one_that_is_cut_is_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
