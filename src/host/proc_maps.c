/* SPDX-License-Identifier: Apache-2.0 */
#include "host/proc_maps.h"

#include <ctype.h>
#include <string.h>

/* A cursor over one line, which is not terminated. */
struct line {
	const char *at, *end;
	bool bad;
};

static uint64_t take_number(struct line *l, unsigned base)
{
	const char *begin = l->at;
	uint64_t v = 0;

	for (; l->at < l->end && l->at - begin < 20; l->at++) {
		int c = tolower((unsigned char)*l->at);
		unsigned digit = c >= '0' && c <= '9'	? (unsigned)(c - '0')
				 : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
							: 99;

		if (digit >= base)
			break;
		v = v * base + digit;
	}
	l->bad |= l->at == begin;
	return v;
}

static void take_char(struct line *l, char c)
{
	if (l->at < l->end && *l->at == c)
		l->at++;
	else
		l->bad = true;
}

static void take_permissions(struct line *l, struct proc_map *m)
{
	if (l->end - l->at < 4) {
		l->bad = true;
		return;
	}
	m->is_writable = l->at[1] == 'w';
	m->is_shared = l->at[3] == 's';
	m->is_exec = l->at[2] == 'x';
	l->at += 4;
}

static unsigned octal(const char *s)
{
	return (unsigned)((s[0] - '0') << 6 | (s[1] - '0') << 3 | (s[2] - '0'));
}

static bool is_octal(const char *s)
{
	return s[0] >= '0' && s[0] <= '3' && s[1] >= '0' && s[1] <= '7' && s[2] >= '0' &&
	       s[2] <= '7';
}

/* The kernel writes a newline in a name as \012. */
static void take_path(struct line *l, struct proc_map *m)
{
	size_t n = 0;

	while (l->at < l->end && *l->at == ' ')
		l->at++;
	while (l->at < l->end && n < sizeof(m->path) - 1) {
		if (*l->at == '\\' && l->end - l->at >= 4 && is_octal(l->at + 1)) {
			m->path[n++] = (char)octal(l->at + 1);
			l->at += 4;
			continue;
		}
		m->path[n++] = *l->at++;
	}
	m->path[n] = '\0';

	static const char deleted[] = " (deleted)";
	size_t tail = sizeof(deleted) - 1;

	if (n > tail && !strcmp(m->path + n - tail, deleted)) {
		m->path[n - tail] = '\0';
		m->is_deleted = true;
	}
}

static bool parse_line(struct line l, struct proc_map *m)
{
	*m = (struct proc_map){ 0 };
	m->start = take_number(&l, 16);
	take_char(&l, '-');
	m->end = take_number(&l, 16);
	take_char(&l, ' ');
	take_permissions(&l, m);
	take_char(&l, ' ');
	m->file_offset = take_number(&l, 16);
	take_char(&l, ' ');
	m->dev_major = (uint32_t)take_number(&l, 16);
	take_char(&l, ':');
	m->dev_minor = (uint32_t)take_number(&l, 16);
	take_char(&l, ' ');
	m->inode = take_number(&l, 10);
	if (l.bad || m->start >= m->end)
		return false;
	take_path(&l, m);
	return true;
}

bool proc_maps_next(const char **text, const char *end, struct proc_map *ret)
{
	while (*text < end) {
		const char *newline = memchr(*text, '\n', (size_t)(end - *text));
		struct line l = { .at = *text, .end = newline ? newline : end };

		*text = newline ? newline + 1 : end;
		if (parse_line(l, ret))
			return true;
	}
	return false;
}
