/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/track.h"

#include <string.h>

uint32_t track_flags(const struct profile *p, size_t column)
{
	const struct profile_column *c = profile_column(p, column);
	const struct model_event *ev =
		recording_event(profile_source(p, c->source), c->source_event);

	return ev ? ev->flags : 0;
}

enum track_kind track_kind_of(const struct profile *p, size_t column)
{
	uint32_t flags = track_flags(p, column);

	if (strcmp(profile_column(p, column)->unit, "ns") != 0)
		return TRACK_AMOUNT;
	if (flags & EVENT_EACH)
		return TRACK_FROM;
	if (flags & EVENT_SUMMED)
		return TRACK_SUM;
	/* A sample of CPU time is taken when its time is over, a wait is told by its
	 * beginning. */
	return flags & EVENT_SAMPLED ? TRACK_BEFORE : TRACK_FROM;
}

bool track_has_spans(const struct profile *p, size_t column)
{
	enum track_kind kind = track_kind_of(p, column);

	return (kind == TRACK_BEFORE || kind == TRACK_FROM) &&
	       !track_is_beside(p, column);
}

uint64_t track_end_ns(const struct profile *p, const struct profile_sample *s)
{
	return track_kind_of(p, s->column) == TRACK_FROM ? s->time_ns + s->weight
							 : s->time_ns;
}

bool track_is_each(const struct profile *p, size_t column)
{
	return track_flags(p, column) & EVENT_EACH &&
	       profile_column(p, column)->event != MODEL_NONE;
}

bool track_is_beside(const struct profile *p, size_t column)
{
	return track_flags(p, column) & EVENT_BESIDE && track_is_each(p, column);
}

/* Is that event what the other sums up, or some of it? */
static bool is_of(const char *sum, const char *each)
{
	static const struct {
		const char *sum, *each;
	} pairs[] = {
		{ "lock-wait-time", "each-lock-wait" },
		{ "sync-wait-time", "each-sync-wait" },
		{ "io-time", "each-io-call" },
		{ "io-time", "each-io-request" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (strcmp(pairs[i].sum, sum) == 0 && strcmp(pairs[i].each, each) == 0)
			return true;
	return false;
}

/* Are they of the same, in one recording? */
static bool is_pair(const struct profile *p, size_t sum, size_t each)
{
	const struct profile_column *s = profile_column(p, sum);
	const struct profile_column *x = profile_column(p, each);

	return s->source == x->source && track_is_each(p, each) &&
	       is_of(s->name, x->name);
}

/* What a ring had no room for is summed only.  A filter chooses of sums when they were
 * told. */
bool track_is_told_one_by_one(const struct profile *p, size_t column)
{
	uint64_t whole = profile_column(p, column)->total_weight, told = 0;

	for (size_t i = 0; i < profile_n_columns(p); i++)
		if (is_pair(p, column, i))
			told += profile_column(p, i)->total_weight;
	return told && (profile_is_filtered(p) || told >= whole - whole / 100);
}

bool track_is_instead(const struct profile *p, size_t column)
{
	for (size_t i = 0; i < profile_n_columns(p); i++)
		if (is_pair(p, i, column))
			return track_is_told_one_by_one(p, i);
	return false;
}

bool track_is_shown(const struct profile *p, size_t column)
{
	return !(track_flags(p, column) & EVENT_ASIDE) &&
	       profile_column(p, column)->event != MODEL_NONE;
}
