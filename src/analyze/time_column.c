/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/time_column.h"

#include <string.h>

#include "analyze/event_name.h"

#define CPU_TIME "cpu-time"

bool time_column_is_counter(const struct profile_column *c, const char *name)
{
	size_t n = strlen(name);

	return strncmp(c->name, name, n) == 0 && (!c->name[n] || c->name[n] == ':') &&
	       c->total_count && event_name_has_user(c->name);
}

static bool is_cpu_time(const struct profile *p, size_t column)
{
	return strcmp(profile_column(p, column)->name, CPU_TIME) == 0;
}

static bool has_cpu_time(const struct profile *p)
{
	for (size_t i = 0; i < profile_n_columns(p); i++)
		if (is_cpu_time(p, i))
			return true;
	return false;
}

bool time_column_is_cycles(const struct profile *p, size_t column)
{
	const struct profile_column *c = profile_column(p, column);

	/* Precise ones land on the instruction itself, all others behind it. */
	return time_column_is_counter(c, "cycles") && !event_name_is_precise(c->name);
}

bool time_column_is(const struct profile *p, size_t column)
{
	if (is_cpu_time(p, column))
		return true;
	return time_column_is_cycles(p, column) && !has_cpu_time(p);
}

size_t time_column_find(const struct profile *p, size_t from)
{
	for (size_t i = from; i < profile_n_columns(p); i++)
		if (time_column_is(p, i))
			return i;
	return TIME_COLUMN_NONE;
}

size_t time_column_of_source(const struct profile *p, size_t source)
{
	size_t ret = TIME_COLUMN_NONE;

	for (size_t i = 0; i < profile_n_columns(p); i++) {
		if (profile_column(p, i)->source != source)
			continue;
		if (is_cpu_time(p, i))
			return i;
		if (ret == TIME_COLUMN_NONE && time_column_is_cycles(p, i))
			ret = i;
	}
	return ret;
}
