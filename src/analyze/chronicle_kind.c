/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/chronicle_kind.h"

#include <string.h>

#include "analyze/time_column.h"
#include "analyze/track.h"
#include "base/mem.h"

static const struct {
	const char *name, *text;
} kinds[CHRONICLE_N_KINDS] = {
	[CHRONICLE_RUN] = { "run", "runs" },
	[CHRONICLE_READY] = { "ready", "could run, but has no CPU" },
	[CHRONICLE_LOCK] = { "lock", "waits for a lock" },
	[CHRONICLE_SYNC] = { "sync", "waits for another thread" },
	[CHRONICLE_IO] = { "io", "reads, writes, or waits for it" },
	[CHRONICLE_FAULT] = { "fault", "waits for a page" },
	[CHRONICLE_CALL] = { "call", "is in a system call" },
	[CHRONICLE_STOPPED] = { "stopped", "is stopped" },
	[CHRONICLE_ASLEEP] = { "asleep", "sleeps" },
	[CHRONICLE_BLOCKED] = { "blocked", "waits" },
};

/* Of a recording that has events of several groups, some are left out. */
enum group {
	STATES,	 /* all that a thread does */
	TIMES,	 /* running or waiting */
	CALLS,	 /* a part of the waits, by what they are for */
	REGIONS, /* running, if nothing else tells of that */
};

static const struct {
	const char *event;
	enum group group;
	enum chronicle_kind kind;
} events[] = {
	{ "user-cpu", STATES, CHRONICLE_RUN },
	{ "system-cpu", STATES, CHRONICLE_RUN },
	{ "unaccounted", STATES, CHRONICLE_RUN },
	{ "wait-cpu", STATES, CHRONICLE_READY },
	{ "taken", STATES, CHRONICLE_READY },
	{ "user-lock", STATES, CHRONICLE_SYNC },
	{ "text-fault", STATES, CHRONICLE_FAULT },
	{ "data-fault", STATES, CHRONICLE_FAULT },
	{ "other-fault", STATES, CHRONICLE_FAULT },
	{ "io-wait", STATES, CHRONICLE_IO },
	{ "sleep", STATES, CHRONICLE_ASLEEP },
	{ "stopped", STATES, CHRONICLE_STOPPED },
	{ "other-wait", STATES, CHRONICLE_BLOCKED },
	{ "blocked-time", TIMES, CHRONICLE_BLOCKED },
	{ "wait-cpu-time", TIMES, CHRONICLE_READY },
	{ "lock-wait-time", CALLS, CHRONICLE_LOCK },
	{ "sync-wait-time", CALLS, CHRONICLE_SYNC },
	{ "io-time", CALLS, CHRONICLE_IO },
	{ "each-lock-wait", CALLS, CHRONICLE_LOCK },
	{ "each-sync-wait", CALLS, CHRONICLE_SYNC },
	{ "each-io-call", CALLS, CHRONICLE_IO },
	{ "syscall-time", CALLS, CHRONICLE_CALL },
	{ "region-time", REGIONS, CHRONICLE_RUN },
};

#define N_EVENTS (sizeof(events) / sizeof(events[0]))

const char *chronicle_kind_name(enum chronicle_kind kind)
{
	return kinds[kind].name;
}

const char *chronicle_kind_text(enum chronicle_kind kind)
{
	return kinds[kind].text;
}

/* The event's place in the table, or N_EVENTS.  Each by itself is better than the sum. */
static size_t event_of(const struct profile *p, size_t column)
{
	size_t i = 0;

	if (!(track_is_shown(p, column) || track_is_instead(p, column)) ||
	    track_is_told_one_by_one(p, column))
		return N_EVENTS;
	while (i < N_EVENTS && strcmp(events[i].event, profile_column(p, column)->name))
		i++;
	return i;
}

static bool is_of(const struct profile *p, size_t source, size_t column)
{
	return profile_column(p, column)->source == source;
}

static bool has_states(const struct profile *p, size_t source)
{
	for (size_t i = 0; i < profile_n_columns(p); i++) {
		size_t event = event_of(p, i);

		if (is_of(p, source, i) && event < N_EVENTS &&
		    events[event].group == STATES)
			return true;
	}
	return false;
}

enum chronicle_kind *chronicle_kind_of_columns(const struct profile *p, size_t source)
{
	size_t n = profile_n_columns(p);
	enum chronicle_kind *ret = xcalloc(n + 1, sizeof(*ret));
	bool is_states = has_states(p, source);
	/* The same time is in all such columns: one tells it. */
	size_t time = time_column_of_source(p, source);

	for (size_t i = 0; i < n; i++) {
		size_t event = event_of(p, i);

		ret[i] = CHRONICLE_NONE;
		if (!is_of(p, source, i))
			continue;
		if (!is_states && i == time)
			ret[i] = CHRONICLE_RUN;
		else if (event < N_EVENTS &&
			 (events[event].group == STATES) == is_states &&
			 (events[event].group != REGIONS || time == TIME_COLUMN_NONE))
			ret[i] = events[event].kind;
	}
	return ret;
}

/* What is left of `whole` without `part`, and no less than nothing. */
static void take(double *whole, double part)
{
	*whole = *whole > part ? *whole - part : 0;
}

bool chronicle_kind_runs_in_regions(const struct profile *p,
				    const enum chronicle_kind *of_columns)
{
	for (size_t i = 0; i < profile_n_columns(p); i++) {
		size_t event = event_of(p, i);

		if (of_columns[i] == CHRONICLE_RUN && event < N_EVENTS &&
		    events[event].group == REGIONS)
			return true;
	}
	return false;
}

void chronicle_kind_refine(double *ns, bool runs_in_regions)
{
	double better = ns[CHRONICLE_LOCK] + ns[CHRONICLE_SYNC] + ns[CHRONICLE_IO];

	take(&ns[CHRONICLE_CALL], better);
	take(&ns[CHRONICLE_BLOCKED], better + ns[CHRONICLE_CALL]);
	for (size_t k = CHRONICLE_RUN + 1; runs_in_regions && k < CHRONICLE_N_KINDS; k++)
		take(&ns[CHRONICLE_RUN], ns[k]);
}
