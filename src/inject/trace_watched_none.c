/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_watched_none - in a library that wraps nothing of the kind the kernel is asked
 * each time.
 */
#include "inject/trace_watched.h"

const bool trace_watched = false;

void trace_watched_look_up(void)
{
}

void trace_watched_note(long nr, const long *arguments)
{
	(void)nr;
	(void)arguments;
}
