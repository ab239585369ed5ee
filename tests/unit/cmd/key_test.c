/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void every_key_is_known_by_what_it_sends(void **state)
{
	static const struct {
		const char *bytes;
		bool is_all;
		size_t n;
		uint32_t key;
	} t[] = {
		{ "q", false, 1, 'q' },
		{ "qq", false, 1, 'q' },
		{ "\r", false, 1, KEY_ENTER },
		{ "\n", false, 1, KEY_ENTER },
		{ "\b", false, 1, KEY_BACKSPACE },
		{ "\x7f", false, 1, KEY_BACKSPACE },
		{ "\xc3\xa9x", false, 2, 0xe9 },
		{ "\xe2\x80\xa6", false, 3, 0x2026 },
		{ "\x1b[A", false, 3, KEY_UP },
		{ "\x1bOBq", false, 3, KEY_DOWN },
		{ "\x1b[5~", false, 4, KEY_PAGE_UP },
		{ "\x1b[H", false, 3, KEY_HOME },
		{ "\x1b[1;5C", false, 6, KEY_NONE }, /* with Ctrl: nothing here */
		{ "\x1b[200~", false, 6, KEY_NONE },
		/* The rest may still come ... */
		{ "\x1b", false, 0, KEY_ESCAPE },
		{ "\x1b[", false, 0, KEY_ESCAPE },
		{ "\x1b[1;", false, 0, KEY_ESCAPE },
		{ "\xe2\x80", false, 0, KEY_NONE },
		/* ... or not. */
		{ "\x1b", true, 1, KEY_ESCAPE },
		{ "\x1b[", true, 1, KEY_ESCAPE },
		{ "\x1bq", false, 1, KEY_ESCAPE },
		{ "\xe2\x80", true, 1, KEY_NONE },
		{ "\xff", false, 1, KEY_NONE },
		{ "\xc3q", false, 1, KEY_NONE },
		{ "", false, 0, KEY_NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		uint32_t key = 42;
		size_t n = key_decode((const uint8_t *)t[i].bytes, strlen(t[i].bytes),
				      t[i].is_all, &key);

		if (n != t[i].n || key != t[i].key)
			fail_msg("case %zu: %zu bytes, key 0x%x", i, n, key);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_known_by_what_it_sends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
