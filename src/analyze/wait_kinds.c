/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/wait_kinds.h"

#include <string.h>

#include "analyze/name_stem.h"
#include "base/text.h"

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

/* Or a copy that the compiler made of it. */
static bool is_function(const char *name, const char *text)
{
	own(buf_fini) struct buf stem = { 0 };

	if (!text_starts(name, text))
		return false;
	name_stem_function(name, &stem);
	return strcmp(buf_str(&stem), text) == 0;
}

static bool matches(size_t i, const char *name)
{
	return kinds[i].is_whole ? is_function(name + strspn(name, "_"), kinds[i].text)
				 : strstr(name, kinds[i].text) != NULL;
}

const struct wait_kind *wait_kinds_find(const char *const *names, size_t n)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (size_t k = 0; k < n; k++)
			if (matches(i, names[k]))
				return &kinds[i].kind;
	return NULL;
}
