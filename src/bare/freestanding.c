/* SPDX-License-Identifier: Apache-2.0
 *
 * freestanding - the four functions that compilers call on their own.
 *
 * Hidden: the program's own are never replaced, and none of ours needs a libc.
 */
#include <stdint.h>
#include <string.h>

#define HIDDEN __attribute__((visibility("hidden"), used))

/* A word at a time where that pays, at any address. */
struct word {
	uint64_t bits;
} __attribute__((packed, may_alias));

HIDDEN void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	char *t = to;
	const char *f = from;

	for (; n >= sizeof(struct word); n -= sizeof(struct word)) {
		*(struct word *)(void *)t = *(const struct word *)(const void *)f;
		t += sizeof(struct word);
		f += sizeof(struct word);
	}
	while (n--)
		*t++ = *f++;
	return to;
}

HIDDEN void *memmove(void *to, const void *from, size_t n)
{
	char *t = to;
	const char *f = from;

	if (t < f) {
		while (n--)
			*t++ = *f++;
		return to;
	}
	while (n--)
		t[n] = f[n];
	return to;
}

HIDDEN void *memset(void *to, int value, size_t n)
{
	char *t = to;
	uint64_t bits = (unsigned char)value * UINT64_C(0x0101010101010101);

	for (; n >= sizeof(bits); n -= sizeof(bits), t += sizeof(bits))
		((struct word *)(void *)t)->bits = bits;
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
