/* SPDX-License-Identifier: Apache-2.0 */
/* Any name: left alone, or readable without control characters and of bounded size. */
#include <stdlib.h>
#include <string.h>

#include "sym/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf name = { 0 }, text = { 0 };

	buf_add(&name, data, size);
	if (demangle_name(buf_str(&name), &text) != (text.size > 0))
		abort();
	if (text.size > 64 * 1024)
		abort();
	for (size_t i = 0; i < text.size; i++)
		if (text.data[i] < 0x20)
			abort();
	buf_fini(&name);
	buf_fini(&text);
	return 0;
}
