/* SPDX-License-Identifier: Apache-2.0
 *
 * put - text, a piece at a time: each returns where the next goes, and none ends it.
 */
#ifndef DWELL_COUNT_PUT_H
#define DWELL_COUNT_PUT_H

#define PUT_NUMBER_MAX 10 /* bytes of a number */

static inline char *put_text(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	return at;
}

static inline char *put_number(char *at, unsigned n)
{
	char digits[PUT_NUMBER_MAX];
	unsigned k = 0;

	do
		digits[k++] = (char)('0' + n % 10);
	while (n /= 10);
	while (k)
		*at++ = digits[--k];
	return at;
}

#endif
