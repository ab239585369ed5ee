/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_preload.h"

#include "base/mem.h"
#include "collect/launch_env.h"
#include "wire/preload.h"

static char *put_together(const struct wire_preload *value)
{
	return xasprintf("%s%s%s", value->pieces[0], value->pieces[1], value->pieces[2]);
}

static char *put_library(const char *others, const char *ours)
{
	const struct wire_preload value = wire_preload_list(ours, others);
	const char *end;

	return others && wire_preload_find(others, ours, &end) ? NULL
							       : put_together(&value);
}

static char *put_order(const char *others, const char *unused_text)
{
	const struct wire_preload value = wire_preload_options(others);

	(void)unused_text;
	return others && wire_preload_has_order(others) ? NULL : put_together(&value);
}

void timer_preload_set(struct launch_env *env, struct timer_directory *d,
		       const char *name)
{
	char ours[TIMER_DIRECTORY_PRELOAD_MAX];

	timer_directory_preload(d, ours);
	launch_env_change(env, WIRE_PRELOAD_LIST, put_library, ours);
	launch_env_set(env, name, d->path);
	d->is_preloaded = true;
	launch_env_change(env, WIRE_PRELOAD_OPTIONS, put_order, NULL);
}
