/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/perf_map.h"

#include <stdbool.h>
#include <string.h>

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* At most 16 digits and the space after them; 0x is tolerated. */
static bool parse_hex(char **s, uint64_t *ret)
{
	char *at = *s;
	uint64_t v = 0;
	int n = 0;

	if (at[0] == '0' && (at[1] | 0x20) == 'x')
		at += 2;
	for (; n < 16 && digit(*at) >= 0; n++, at++)
		v = v << 4 | (unsigned)digit(*at);
	if (!n || (*at != ' ' && *at != '\t'))
		return false;
	*ret = v;
	*s = at + strspn(at, " \t");
	return true;
}

static bool parse_line(char *s, struct code_map *map)
{
	struct code_piece piece = { 0 };

	if (!parse_hex(&s, &piece.start) || !parse_hex(&s, &piece.size) || !*s)
		return false;

	size_t n = strlen(s);

	while (n && (s[n - 1] == '\r' || s[n - 1] == ' '))
		s[--n] = 0;
	piece.name = s;
	if (n)
		code_map_add(map, &piece);
	return n > 0;
}

size_t perf_map_parse(struct buf *text, struct code_map *map)
{
	char *at, *end;
	size_t n = 0;

	buf_str(text);
	at = (char *)text->data;
	end = at + text->size;
	while (at < end) {
		char *stop = memchr(at, '\n', (size_t)(end - at));

		if (stop)
			*stop = 0;
		n += parse_line(at, map);
		at = stop ? stop + 1 : end;
	}
	return n;
}
