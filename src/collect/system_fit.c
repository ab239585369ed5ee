/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_fit.h"

bool system_fit_try(void *where, const struct system_event *const *events, size_t n)
{
	struct system_event_how how = *(const struct system_event_how *)where;
	int fds[SYSTEM_EVENTS_MAX];
	struct system_event_reading r;
	bool fits = true;

	how.is_pinned = true;
	for (size_t i = 0; i < n; i++)
		fds[i] = system_event_open(events[i], &how, NULL);
	for (size_t i = 0; i < n; i++)
		fits &= fds[i] >= 0 && system_event_read(fds[i], &r);
	for (size_t i = 0; i < n; i++)
		closep(&fds[i]);
	return fits;
}

/* The events of a group, and one more. */
static size_t members(const struct system_event *events, const uint8_t *groups, size_t i,
		      uint8_t group, const struct system_event *ret[SYSTEM_EVENTS_MAX])
{
	size_t n = 0;

	for (size_t j = 0; j < i; j++)
		if (groups[j] == group)
			ret[n++] = &events[j];
	ret[n++] = &events[i];
	return n;
}

size_t system_fit(const struct system_event *events, size_t n, uint32_t n_at_once,
		  system_fit_fn *fn, void *ctx, uint8_t ret[SYSTEM_EVENTS_MAX])
{
	const struct system_event *some[SYSTEM_EVENTS_MAX];
	uint8_t n_groups = 0;

	for (size_t i = 0; i < n; i++) {
		uint8_t g = 0;

		if (!n_at_once && !system_event_is_hardware(&events[i])) {
			ret[i] = SYSTEM_FIT_ALWAYS;
			continue;
		}
		for (; g < n_groups; g++) {
			size_t n_some = members(events, ret, i, g, some);

			if ((!n_at_once || n_some <= n_at_once) && fn(ctx, some, n_some))
				break;
		}
		ret[i] = g;
		if (g == n_groups)
			n_groups++;
	}
	return n_groups;
}
