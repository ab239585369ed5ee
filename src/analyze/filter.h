/* SPDX-License-Identifier: Apache-2.0
 *
 * filter - which samples count: the expression of --filter, bound to a recording.
 *
 * Parsed once, bound to each source (every test becomes a lookup by thread, event,
 * stack or a range), then applied to whole blocks.  docs/filter.md is the manual.
 */
#ifndef DWELL_ANALYZE_FILTER_H
#define DWELL_ANALYZE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "store/recording.h"

struct filter;
struct filter_binding;
struct profile;
struct input;

/* The message of a refusal tells the character and what was expected. */
must_use int filter_parse(const char *text, struct filter **ret, struct err *e);
void filter_free(struct filter *f);
void filter_freep(struct filter **f);
/* Some test looks at frames: symbols must be there before it is bound. */
bool filter_needs_frames(const struct filter *f);

/* Some test is of that field (docs/filter.md). */
bool filter_asks_for(const struct filter *f, const char *field);

/* Borrows the filter, the profile and the source. */
struct filter_binding *filter_bind(const struct filter *f, const struct profile *p,
				   const struct input *s);
void filter_binding_free(struct filter_binding *b);
void filter_binding_freep(struct filter_binding **b);

unsigned filter_columns(const struct filter_binding *b); /* enum sample_column */
/* No sample outside can pass. */
void filter_time_range(const struct filter_binding *b, uint64_t *from_ns,
		       uint64_t *to_ns);
/* keep[i] = sample i passes; the block holds filter_columns(). */
void filter_apply(const struct filter_binding *b, const struct sample_block *block,
		  uint8_t *keep);

#endif
