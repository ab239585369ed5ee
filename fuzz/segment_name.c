/* SPDX-License-Identifier: Apache-2.0 */
/* A file name of any bytes: nobody's, or written again it is the same. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/own.h"
#include "store/segment_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own(freep) char *s = xstrndup((const char *)data, size);
	char again[SEGMENT_NAME_MAX];
	struct segment_name n;

	if (!segment_name_parse(s, &n))
		return 0;
	if (n.first < 1 || n.last < n.first || n.from_s > n.to_s ||
	    strcmp(segment_name_text(again, &n), s) != 0)
		abort();
	return 0;
}
