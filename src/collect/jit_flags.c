/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/jit_flags.h"

#include <stddef.h>

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
