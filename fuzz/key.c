/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a terminal sends: it is taken byte by byte, and never more than is there. */
#include <stdlib.h>

#include "cmd/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool is_all = false;

	for (size_t at = 0; at < size;) {
		uint32_t key;
		size_t n = key_decode(data + at, size - at, is_all, &key);

		if (n > size - at || (!n && is_all) || key > KEY_END)
			abort();
		is_all = !n;
		at += n;
	}
	return 0;
}
