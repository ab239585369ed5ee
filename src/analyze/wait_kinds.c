/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/wait_kinds.h"

#include <string.h>

static const struct {
	const char *text;
	bool is_whole; /* the name, not a part of it */
	struct wait_kind kind;
} kinds[] = {
#define FUNCTION(text, what, is_lock) { text, true, { what, is_lock } },
#define WITHIN(text, what, is_lock)   { text, false, { what, is_lock } },
#include "analyze/wait_kinds.def"
#undef FUNCTION
#undef WITHIN
};

static bool matches(size_t i, const char *name)
{
	if (!kinds[i].is_whole)
		return strstr(name, kinds[i].text) != NULL;
	return strcmp(name + strspn(name, "_"), kinds[i].text) == 0;
}

const struct wait_kind *wait_kinds_find(const char *const *names, size_t n)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (size_t k = 0; k < n; k++)
			if (matches(i, names[k]))
				return &kinds[i].kind;
	return NULL;
}
