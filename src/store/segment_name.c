/* SPDX-License-Identifier: Apache-2.0 */
#include "store/segment_name.h"

#include <stdio.h>
#include <string.h>

#include "base/moment.h"

char *segment_name_text(char out[SEGMENT_NAME_MAX], const struct segment_name *n)
{
	char from[MOMENT_MAX], to[MOMENT_MAX], last[16] = "";

	if (n->last != n->first)
		snprintf(last, sizeof(last), "-%u", n->last);
	snprintf(out, SEGMENT_NAME_MAX, "%s-%s.%u%s.dwell",
		 moment_compact(from, n->from_s), moment_compact(to, n->to_s), n->first,
		 last);
	return out;
}

static bool take_time(const char **s, char end, int64_t *ret)
{
	char word[16];
	size_t n = strcspn(*s, "-.");

	if (n != 15 || (*s)[n] != end)
		return false;
	memcpy(word, *s, n);
	word[n] = '\0';
	*s += n + 1;
	return moment_parse(word, 0, ret, NULL) == 0;
}

static bool take_number(const char **s, uint32_t *ret)
{
	uint64_t v = 0;
	const char *start = *s;

	for (; **s >= '0' && **s <= '9' && v < UINT32_MAX; (*s)++)
		v = v * 10 + (uint64_t)(**s - '0');
	*ret = (uint32_t)v;
	return *s > start && *start != '0' && v < UINT32_MAX;
}

bool segment_name_parse(const char *s, struct segment_name *ret)
{
	struct segment_name n = { 0 };
	char again[SEGMENT_NAME_MAX];
	const char *at = s;

	if (!take_time(&at, '-', &n.from_s) || !take_time(&at, '.', &n.to_s) ||
	    !take_number(&at, &n.first))
		return false;
	n.last = n.first;
	if (*at == '-') {
		at++;
		if (!take_number(&at, &n.last) || n.last <= n.first)
			return false;
	}
	if (strcmp(at, ".dwell") != 0 || n.from_s > n.to_s)
		return false;
	/* One name per thing: what is written otherwise is somebody else's. */
	if (strcmp(segment_name_text(again, &n), s) != 0)
		return false;
	*ret = n;
	return true;
}

bool segment_name_covers(const struct segment_name *a, const struct segment_name *b)
{
	return a->first <= b->first && a->last >= b->last &&
	       (a->first != b->first || a->last != b->last);
}
