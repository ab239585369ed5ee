/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/offline.h"

static const char *const texts[UNWIND_N_STOPS] = {
	[UNWIND_END] = "complete",
	[UNWIND_NO_MAP] = "outside every mapping",
	[UNWIND_NO_TABLE] = "no unwind table",
	[UNWIND_BAD_RULE] = "unknown unwind rule",
	[UNWIND_BAD_MEMORY] = "unreadable memory",
	[UNWIND_STACK_SHORT] = "copied stack too short",
	[UNWIND_LIMIT] = "depth limit",
	[UNWIND_NO_PROGRESS] = "no progress",
	[UNWIND_NO_REGISTER] = "unknown register",
	[UNWIND_32BIT] = "32-bit code",
	[UNWIND_NOT_LOADED] = "unwind table not loaded yet",
};

const char *unwind_stop_text(enum unwind_stop stop)
{
	return (unsigned)stop < UNWIND_N_STOPS ? texts[stop] : "unknown reason";
}
