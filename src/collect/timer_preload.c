/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_preload.h"

#include <string.h>

#include "base/mem.h"
#include "collect/launch_env.h"

/* The address sanitizer insists on being first of all libraries, unless told. */
#define ASAN_ANY_ORDER "verify_asan_link_order=0"

/* A colon tells that there was a variable, if an empty one (inject/environment). */
static char *put_before(const char *others, const char *ours)
{
	return xasprintf("%s%s%s", ours, others ? ":" : "", others ? others : "");
}

static char *put_behind(const char *options, const char *order)
{
	if (options && strstr(options, "verify_asan_link_order"))
		return NULL;
	return xasprintf("%s%s%s", options ? options : "", options && *options ? ":" : "",
			 order);
}

void timer_preload_set(struct launch_env *env, struct timer_directory *d,
		       const char *name)
{
	char ours[TIMER_DIRECTORY_PRELOAD_MAX];

	timer_directory_preload(d, ours);
	launch_env_change(env, "LD_PRELOAD", put_before, ours);
	launch_env_set(env, name, d->path);
	d->is_preloaded = true;
	launch_env_change(env, "ASAN_OPTIONS", put_behind, ASAN_ANY_ORDER);
}
