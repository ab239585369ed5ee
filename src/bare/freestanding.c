/* SPDX-License-Identifier: Apache-2.0
 *
 * freestanding - the four functions that compilers call on their own.
 *
 * Hidden: the program's own are never replaced, and none of ours needs a libc.
 */
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden"), used))

HIDDEN void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	char *t = to;
	const char *f = from;

	while (n--)
		*t++ = *f++;
	return to;
}

HIDDEN void *memmove(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;

	if (t < f)
		return memcpy(to, from, n);
	while (n--)
		t[n] = f[n];
	return to;
}

HIDDEN void *memset(void *to, int value, size_t n)
{
	char *t = to;

	while (n--)
		*t++ = (char)value;
	return to;
}

HIDDEN int memcmp(const void *a, const void *b, size_t n)
{
	const unsigned char *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

HIDDEN size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

HIDDEN int strcmp(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	return (unsigned char)*a - (unsigned char)*b;
}
