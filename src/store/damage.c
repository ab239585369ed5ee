/* SPDX-License-Identifier: Apache-2.0 */
#include "store/damage.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

void damage_note(struct damage *d, const char *fmt, ...)
{
	va_list ap;

	if (d->n_findings++)
		return;
	va_start(ap, fmt);
	vsnprintf(d->first, sizeof(d->first), fmt, ap);
	va_end(ap);
}

/* ", and in 3 more places": so many of what, between two texts. */
static void append(struct damage *d, size_t *at, const char *before, uint64_t n,
		   const char *plural, const char *after)
{
	char number[TEXT_MAX];

	if (!n || *at >= sizeof(d->line))
		return;

	int more = snprintf(d->line + *at, sizeof(d->line) - *at, "%s%s%s", before,
			    text_number(number, n, plural), after);

	*at += more > 0 ? (size_t)more : 0;
}

const char *damage_line(struct damage *d, bool is_closed, uint64_t whole_bytes)
{
	size_t at = 0;

	if (!d->n_findings && is_closed)
		return NULL;
	d->line[0] = '\0';
	if (d->n_findings) {
		at = (size_t)snprintf(d->line, sizeof(d->line), "%s", d->first);
		append(d, &at, ", and in ", d->n_findings - 1, "more places", "");
		append(d, &at, ", ", d->n_samples, "samples", " cannot be read");
	} else {
		snprintf(d->line, sizeof(d->line),
			 "unfinished: the recorder did not end in order; complete up to "
			 "byte %" PRIu64,
			 whole_bytes);
	}
	return d->line;
}

void damage_add(struct damage *d, const char *fmt, ...)
{
	size_t at = strlen(d->line);
	va_list ap;

	va_start(ap, fmt);
	if (at)
		vsnprintf(d->line + at, sizeof(d->line) - at, fmt, ap);
	va_end(ap);
}
