/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_preload.h"

#include <string.h>

#include "base/mem.h"
#include "collect/launch_env.h"

/* The address sanitizer insists on being first of all libraries, unless told. */
#define ASAN_ANY_ORDER "verify_asan_link_order=0"

static void permit_preload(struct launch_env *env)
{
	const char *options = launch_env_get(env, "ASAN_OPTIONS");

	if (options && strstr(options, "verify_asan_link_order"))
		return;

	own(freep) char *with = xasprintf("%s%s" ASAN_ANY_ORDER, options ? options : "",
					  options && *options ? ":" : "");

	launch_env_set(env, "ASAN_OPTIONS", with);
}

void timer_preload_set(struct launch_env *env, struct timer_directory *d,
		       const char *name)
{
	const char *others = launch_env_get(env, "LD_PRELOAD");
	char ours[TIMER_DIRECTORY_PRELOAD_MAX];

	timer_directory_preload(d, ours);

	own(freep) char *preload = xasprintf("%s%s%s", ours, others && *others ? ":" : "",
					     others ? others : "");

	launch_env_set(env, "LD_PRELOAD", preload);
	launch_env_set(env, name, d->path);
	d->is_preloaded = true;
	permit_preload(env);
}
