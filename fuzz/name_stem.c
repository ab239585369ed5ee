/* SPDX-License-Identifier: Apache-2.0 */
/* Any name: its stem is no longer, and of a function's begins as the name does. */
#include <stdlib.h>
#include <string.h>

#include "analyze/name_stem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf name = { 0 }, stem = { 0 }, again = { 0 };

	buf_add(&name, data, size);
	buf_str(&name);
	name_stem_function(buf_str(&name), &stem);
	if (strncmp(buf_str(&name), buf_str(&stem), stem.size) != 0)
		abort();
	buf_clear(&stem);
	name_stem_image(buf_str(&name), &stem);
	name_stem_image(buf_str(&stem), &again);
	if (stem.size > strlen(buf_str(&name)) || strcmp(buf_str(&stem), buf_str(&again)))
		abort();
	buf_fini(&name);
	buf_fini(&stem);
	buf_fini(&again);
	return 0;
}
