/* SPDX-License-Identifier: Apache-2.0 */
#include "export/plain_text.h"

#include <stdbool.h>
#include <string.h>

#include "base/own.h"
#include "base/utf8.h"

/* C0, DEL and, as two bytes of UTF-8, C1: what terminals may act upon. */
static bool is_control(const char *s, size_t len)
{
	unsigned char c = (unsigned char)s[0];

	return c < 0x20 || c == 0x7f ||
	       (len == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0);
}

/* How many bytes from s on go as they are. */
static size_t plain_run(const char *s, char reserved)
{
	size_t n = 0;

	while (s[n] >= 0x20 && s[n] < 0x7f && s[n] != reserved)
		n++;
	return n;
}

void plain_text_add(struct buf *b, const char *s, char reserved, const char *instead)
{
	for (size_t left = strlen(s); left;) {
		size_t run = plain_run(s, reserved);

		buf_add(b, s, run);
		s += run;
		left -= run;
		if (!left)
			break;

		size_t valid = utf8_length(s, left);
		size_t len = valid ? valid : 1;

		if (!valid || is_control(s, len))
			for (size_t i = 0; i < len; i++)
				buf_printf(b, "\\x%02x", (unsigned char)s[i]);
		else if (reserved && *s == reserved)
			buf_puts(b, instead);
		else
			buf_add(b, s, len);
		s += len;
		left -= len;
	}
}

void plain_text_put(FILE *out, const char *s, char reserved, const char *instead)
{
	own(buf_fini) struct buf b = { 0 };

	plain_text_add(&b, s, reserved, instead);
	fputs(buf_str(&b), out); /* a NUL is escaped like all that is not printed */
}
