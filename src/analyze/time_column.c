/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/time_column.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/event_name.h"
#include "analyze/profile_data.h"
#include "base/mem.h"

#define CPU_TIME "cpu-time"

bool time_column_is_counter(const struct profile_column *c, const char *name)
{
	size_t n = strlen(name);

	return strncmp(c->name, name, n) == 0 && (!c->name[n] || c->name[n] == ':') &&
	       c->total_count && event_name_has_user(c->name);
}

/* Where several experiments of a recording have an event of that name each is called
 * after its experiment, too. */
static bool is_called_cpu_time(const struct profile_column *c)
{
	const char *name = c->name;
	size_t n = c->experiment ? strlen(c->experiment) : 0;

	if (n && strncmp(name, c->experiment, n) == 0 && name[n] == ':')
		name += n + 1;
	return strcmp(name, CPU_TIME) == 0;
}

/* All of a recording's are of the same time: the first one that has samples is it. */
void time_column_choose(struct profile *p)
{
	free(p->cpu_column_of);
	p->cpu_column_of = xcalloc(p->n_sources + 1, sizeof(*p->cpu_column_of));
	for (size_t i = 0; i < p->n_sources; i++)
		p->cpu_column_of[i] = TIME_COLUMN_NONE;
	for (size_t i = 0; i < p->columns.n; i++) {
		const struct profile_column *c = profile_column(p, i);
		size_t *best = &p->cpu_column_of[c->source];

		if (!is_called_cpu_time(c))
			continue;
		if (*best == TIME_COLUMN_NONE ||
		    (c->total_count && !profile_column(p, *best)->total_count))
			*best = i;
	}
}

bool time_column_is_cpu(const struct profile *p, size_t column)
{
	return p->cpu_column_of[profile_column(p, column)->source] == column;
}

static bool has_cpu_time(const struct profile *p)
{
	for (size_t i = 0; i < p->n_sources; i++)
		if (p->cpu_column_of[i] != TIME_COLUMN_NONE)
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
	if (time_column_is_cpu(p, column))
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
		if (time_column_is_cpu(p, i))
			return i;
		if (ret == TIME_COLUMN_NONE && time_column_is_cycles(p, i))
			ret = i;
	}
	return ret;
}
