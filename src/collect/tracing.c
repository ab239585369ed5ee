/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/tracing.h"

#define TRACING(name) extern const struct tracing name##_tracing;
#include "collect/tracings.def"
#undef TRACING

const struct tracing *const tracings[] = {
#define TRACING(name) &name##_tracing,
#include "collect/tracings.def"
#undef TRACING
	NULL
};

const struct tracing *tracing_of(const struct experiment *x)
{
	for (size_t i = 0; tracings[i]; i++)
		if (tracings[i]->trigger == x->trigger)
			return tracings[i];
	return NULL;
}
