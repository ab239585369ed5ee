/* SPDX-License-Identifier: Apache-2.0
 *
 * launch_env - the environment that a launched program gets: ours, with changes.
 */
#ifndef DWELL_COLLECT_LAUNCH_ENV_H
#define DWELL_COLLECT_LAUNCH_ENV_H

#include "base/vec.h"

struct launch_env {
	VEC(char *) vars; /* "NAME=value", owned */
};

void launch_env_init(struct launch_env *env); /* a copy of environ */
void launch_env_fini(struct launch_env *env);
const char *launch_env_get(const struct launch_env *env, const char *name);
void launch_env_set(struct launch_env *env, const char *name, const char *value);
/* Each variable of that name becomes what change makes of its value; NULL: it stays. Some
 * programs read the first of several, and some the last.  Where there is none, one is
 * made of NULL. */
typedef char *launch_env_fn(const char *value, const char *with);
void launch_env_change(struct launch_env *env, const char *name, launch_env_fn *change,
		       const char *with);
/* NULL-terminated, borrowed until the next change. */
char *const *launch_env_array(struct launch_env *env);

#endif
