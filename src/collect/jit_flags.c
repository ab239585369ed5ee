/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/jit_flags.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/own.h"
#include "collect/launch_env.h"

/* Java writes its map only when it ends, and only since 17; older ones ignore it. */
static const struct {
	const char *variable, *flags;
} jit_flags[] = {
	/* Without the last words it would leave a log in the directory, too. */
	{ "NODE_OPTIONS", "--perf-basic-prof-only-functions" },
	{ "JAVA_TOOL_OPTIONS",
	  "-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer "
	  "-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit" },
	/* Since 3.12. */
	{ "PYTHONPERFSUPPORT", "1" },
};

void jit_flags_set(struct launch_env *env)
{
	for (size_t i = 0; i < sizeof(jit_flags) / sizeof(jit_flags[0]); i++) {
		const char *old = launch_env_get(env, jit_flags[i].variable);
		own(freep) char *value = xasprintf("%s%s%s", old ? old : "",
						   old ? " " : "", jit_flags[i].flags);

		launch_env_set(env, jit_flags[i].variable, value);
	}
}

/* The minor version in "python3.11" or "libpython3.11.so.1.0", or -1. */
static int python_minor(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int minor, n = 0;

	if (strncmp(name, "lib", 3) == 0)
		name += 3;
	if (sscanf(name, "python3.%2d%n", &minor, &n) != 1 ||
	    (name[n] && strncmp(name + n, ".so", 3) != 0))
		return -1;
	return minor;
}

const char *jit_flags_refusal(const char *path)
{
	int minor = python_minor(path);

	return minor >= 0 && minor < 12
		       ? "python names its functions since 3.12, this one is older: its "
			 "interpreter is shown instead"
		       : NULL;
}
