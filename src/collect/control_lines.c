/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/control_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void control_lines_add(struct buf *b, const char *name, uint64_t value)
{
	buf_printf(b, "%s=%" PRIu64 "\n", name, value);
}

void control_lines_add_text(struct buf *b, const char *name, const char *value)
{
	buf_printf(b, "%s=", name);
	for (const char *s = value; *s; s++)
		buf_u8(b, (unsigned char)*s < ' ' ? ' ' : (uint8_t)*s);
	buf_puts(b, "\n");
}

void control_lines_text(const char *lines, const char *name, char *value, size_t cap)
{
	size_t n = strlen(name);

	*value = '\0';
	for (const char *at = lines; at && *at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strncmp(at, name, n) == 0 && at[n] == '=') {
			snprintf(value, cap, "%.*s", (int)strcspn(at + n + 1, "\n"),
				 at + n + 1);
			return;
		}
	}
}

uint64_t control_lines_number(const char *lines, const char *name)
{
	char text[64];

	control_lines_text(lines, name, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

bool control_lines_has(const char *lines, const char *name)
{
	char first[2];

	control_lines_text(lines, name, first, sizeof(first));
	return *first;
}
