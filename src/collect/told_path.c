/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/told_path.h"

#include <stdio.h>

void told_path_join(const struct stack_record_image *r, char *path, size_t cap)
{
	size_t end = r->path_bytes, n = 0;

	*path = '\0';
	while (end && n < cap) {
		size_t start = end - 1;

		while (start && r->path[start - 1])
			start--;
		n += (size_t)snprintf(path + n, cap - n, "/%.*s", (int)(end - 1 - start),
				      r->path + start);
		end = start;
	}
}
