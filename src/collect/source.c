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

static bool is_meant(const char *name, const struct source_ops *source)
{
	return name && strcmp(source->name, name) == 0;
}

const struct source_ops *source_beside(const struct experiment *x,
				       const struct source_ops *source,
				       const struct scope *scope, struct err *e)
{
	const struct source_ops *other = x->beside ? source_find(x->beside) : NULL;

	if (!other || other == source || other->probe(x, scope, e) < 0)
		return NULL;
	return other;
}

/* In the order of the table, but what would be beside another comes last. */
static const struct source_ops *candidate(const struct experiment *x, size_t i,
					  size_t n_sources)
{
	if (i == n_sources)
		return x->beside ? source_find(x->beside) : NULL;
	if (is_meant(x->beside, sources[i]) ||
	    (x->only_source && !is_meant(x->only_source, sources[i])))
		return NULL;
	return sources[i];
}

const struct source_ops *source_choose(const struct experiment *x,
				       const struct scope *scope, struct err *e)
{
	char why[sizeof(e->text)] = "";
	size_t n = 0;
	size_t n_sources = sizeof(sources) / sizeof(sources[0]) - 1;

	for (size_t i = 0; i <= n_sources; i++) {
		const struct source_ops *source = candidate(x, i, n_sources);
		struct err reason = { 0 };

		if (!source)
			continue;
		if (source->probe(x, scope, &reason) == 0)
			return source;
		n += (size_t)snprintf(why + n, sizeof(why) - n, "%s%s: %.200s",
				      n ? "; " : "", source->name, reason.text);
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
