/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/key.h"

#include <string.h>

#include "base/utf8.h"

#define SEQUENCE_MAX 16

/* What follows ESC, of xterm, the Linux console, screen and tmux. */
static const struct {
	const char *bytes;
	uint32_t key;
} sequences[] = {
	{ "[A", KEY_UP },	  { "[B", KEY_DOWN },  { "[C", KEY_RIGHT },
	{ "[D", KEY_LEFT },	  { "OA", KEY_UP },    { "OB", KEY_DOWN },
	{ "OC", KEY_RIGHT },	  { "OD", KEY_LEFT },  { "[5~", KEY_PAGE_UP },
	{ "[6~", KEY_PAGE_DOWN }, { "[H", KEY_HOME },  { "[F", KEY_END },
	{ "OH", KEY_HOME },	  { "OF", KEY_END },   { "[1~", KEY_HOME },
	{ "[4~", KEY_END },	  { "[7~", KEY_HOME }, { "[8~", KEY_END },
};

/* The length of what begins with ESC [ or ESC O; 0: its end has not come. */
static size_t sequence_length(const uint8_t *bytes, size_t n)
{
	size_t i = 2;

	if (bytes[1] == 'O')
		return n > 2 ? 3 : 0;
	/* Parameters and what is between them, up to the final byte. */
	while (i < n && bytes[i] >= 0x20 && bytes[i] < 0x40)
		i++;
	if (i < n)
		return i + 1;
	return n > SEQUENCE_MAX ? n : 0;
}

static size_t decode_escape(const uint8_t *bytes, size_t n, bool is_all, uint32_t *ret)
{
	size_t length;

	*ret = KEY_ESCAPE;
	if (n == 1 || (bytes[1] != '[' && bytes[1] != 'O'))
		return n == 1 && !is_all ? 0 : 1;
	length = sequence_length(bytes, n);
	if (!length)
		return is_all ? 1 : 0;
	*ret = KEY_NONE;
	for (size_t i = 0; i < sizeof(sequences) / sizeof(sequences[0]); i++)
		if (strlen(sequences[i].bytes) == length - 1 &&
		    memcmp(sequences[i].bytes, bytes + 1, length - 1) == 0)
			*ret = sequences[i].key;
	return length;
}

/* Of the UTF-8 character that a byte begins; 0: none does. */
static size_t character_length(uint8_t first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xf0 && first < 0xf8)
		return 4;
	if (first >= 0xe0)
		return first < 0xf0 ? 3 : 0;
	return first >= 0xc0 ? 2 : 0;
}

size_t key_decode(const uint8_t *bytes, size_t n, bool is_all, uint32_t *ret)
{
	size_t length = n ? character_length(bytes[0]) : 0;

	*ret = KEY_NONE;
	if (!n)
		return 0;
	if (bytes[0] == KEY_ESCAPE)
		return decode_escape(bytes, n, is_all, ret);
	if (bytes[0] == '\b')
		*ret = KEY_BACKSPACE;
	else if (bytes[0] == '\n')
		*ret = KEY_ENTER;
	else if (length > n)
		return is_all ? 1 : 0;
	else if (length && utf8_length((const char *)bytes, n) == length)
		*ret = utf8_decode((const char *)bytes, length);
	return *ret && bytes[0] >= 0x80 ? length : 1;
}
