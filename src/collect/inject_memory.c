/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_memory.h"

#include <string.h>

#define PIECE 64 /* a multiple of which pages are */

bool inject_memory_string(const struct inject_memory *m, uint64_t at, char *ret,
			  size_t cap)
{
	size_t n = 0;

	while (n + 1 < cap) {
		size_t left = cap - 1 - n, piece = PIECE - (at + n) % PIECE;

		piece = piece < left ? piece : left;
		if (!inject_memory_read(m, at + n, ret + n, piece))
			return false;
		if (memchr(ret + n, 0, piece))
			return true;
		n += piece;
	}
	ret[n] = 0;
	return true;
}
