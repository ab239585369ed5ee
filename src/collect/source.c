/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/source.h"

#include <stdio.h>
#include <string.h>

#define SOURCE(name) extern const struct source_ops name##_source;
#include "collect/sources.def"
#undef SOURCE

const struct source_ops *const sources[] = {
#define SOURCE(name) &name##_source,
#include "collect/sources.def"
#undef SOURCE
	NULL
};

const struct source_ops *source_find(const char *name)
{
	for (size_t i = 0; sources[i]; i++)
		if (!strcmp(sources[i]->name, name))
			return sources[i];
	return NULL;
}

const struct source_ops *source_choose(const struct experiment *x,
				       const struct scope *scope, struct err *e)
{
	char why[sizeof(e->text)] = "";
	size_t n = 0;

	for (size_t i = 0; sources[i]; i++) {
		struct err reason = { 0 };

		if (x->only_source && strcmp(sources[i]->name, x->only_source) != 0)
			continue;

		if (sources[i]->probe(x, scope, &reason) == 0)
			return sources[i];
		n += (size_t)snprintf(why + n, sizeof(why) - n, "%s%s: %.200s",
				      n ? "; " : "", sources[i]->name, reason.text);
		if (n >= sizeof(why))
			n = sizeof(why) - 1;
	}
	err_set(e, ERR_UNSUPPORTED, "%s is not available here (%.450s)", x->name, why);
	return NULL;
}

struct apart source_apart(const struct scope *scope)
{
	return scope->apart ? *scope->apart
			    : (struct apart){ .processes = true, .threads = true };
}
