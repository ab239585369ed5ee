/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/name_to_type.h"

#include <string.h>

#include "analyze/listing.h"
#include "analyze/names.h"
#include "base/mem.h"
#include "base/text.h"

char *name_to_type(const struct profile *p, uint32_t function, size_t room)
{
	const char *full = profile_function(p, function)->label;
	size_t n = names_without_parameters(full), cap = 4 * strlen(full) + 1;
	own(freep) char *name = xstrndup(full, n);
	char *safe = xcalloc(1, cap);

	/* Others may differ from it in what stands behind. */
	if (full[n] && !listing_means(p, name, function)) {
		free(name);
		name = xstrdup(full);
	}
	if (text_width(name) > room) {
		names_shorten(safe, cap, name, room);
		if (listing_means(p, safe, function))
			return safe;
	}
	text_printable(safe, cap, name);
	return safe;
}
