/* SPDX-License-Identifier: Apache-2.0 */
/* A time of any bytes, at any time of reading: refused with a text, or a number that can
 * be written. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/moment.h"
#include "base/own.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int64_t nows[] = { 0, INT64_C(1763721000), INT64_C(4102444800), -5,
					INT64_MAX };
	own(freep) char *s = xstrndup((const char *)data, size);
	char text[MOMENT_MAX];

	for (size_t i = 0; i < sizeof(nows) / sizeof(nows[0]); i++) {
		struct err e = { 0 };
		int64_t at;

		if (moment_parse(s, nows[i], &at, &e) < 0) {
			if (!e.text[0])
				abort();
			continue;
		}
		if (!*moment_text(text, at))
			abort();
	}
	return 0;
}
