/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

size_t utf8_length(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t len = p[0] < 0x80   ? 1
		     : p[0] < 0xc2 ? 0
		     : p[0] < 0xe0 ? 2
		     : p[0] < 0xf0 ? 3
		     : p[0] < 0xf5 ? 4
				   : 0;

	if (len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if (len == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0)))
		return 0;
	if (len == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90)))
		return 0;
	return len;
}

uint32_t utf8_decode(const char *s, size_t len)
{
	static const uint8_t first_mask[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	const unsigned char *p = (const unsigned char *)s;
	uint32_t c = p[0] & first_mask[len];

	for (size_t i = 1; i < len; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}
