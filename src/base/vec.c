/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

#include "base/mem.h"

void *vec_grow(void *at, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap ? *cap * 2 : 8;

	if (n < need)
		n = need;
	at = xrealloc(at, n, size);
	*cap = n;
	return at;
}
