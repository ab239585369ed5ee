/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/launch_env.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/own.h"

void launch_env_init(struct launch_env *env)
{
	*env = (struct launch_env){ 0 };
	for (char **p = environ; p && *p; p++)
		*vec_push(&env->vars) = xstrdup(*p);
}

void launch_env_fini(struct launch_env *env)
{
	vec_each(v, &env->vars)
		free(*v);
	vec_fini(&env->vars);
}

/* From the ith on. */
static char **find(const struct launch_env *env, const char *name, size_t i)
{
	size_t n = strlen(name);

	for (; i < env->vars.n; i++) {
		char **v = &env->vars.at[i];

		if (!strncmp(*v, name, n) && (*v)[n] == '=')
			return v;
	}
	return NULL;
}

const char *launch_env_get(const struct launch_env *env, const char *name)
{
	char **v = find(env, name, 0);

	return v ? *v + strlen(name) + 1 : NULL;
}

void launch_env_set(struct launch_env *env, const char *name, const char *value)
{
	char **v = find(env, name, 0);

	if (v)
		free(*v);
	else
		v = vec_push(&env->vars);
	*v = xasprintf("%s=%s", name, value);
}

void launch_env_change(struct launch_env *env, const char *name, launch_env_fn *change,
		       const char *with)
{
	char **v = find(env, name, 0);

	if (!v) {
		own(freep) char *value = change(NULL, with);

		if (value)
			launch_env_set(env, name, value);
		return;
	}
	for (; v; v = find(env, name, (size_t)(v - env->vars.at) + 1)) {
		own(freep) char *value = change(*v + strlen(name) + 1, with);

		if (!value)
			continue;
		free(*v);
		*v = xasprintf("%s=%s", name, value);
	}
}

char *const *launch_env_array(struct launch_env *env)
{
	vec_reserve(&env->vars, env->vars.n + 1);
	env->vars.at[env->vars.n] = NULL;
	return env->vars.at;
}
