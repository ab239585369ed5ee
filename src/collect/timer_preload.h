/* SPDX-License-Identifier: Apache-2.0
 *
 * timer_preload - what a program's environment must say for a library of ours to be
 * loaded into it.
 */
#ifndef DWELL_COLLECT_TIMER_PRELOAD_H
#define DWELL_COLLECT_TIMER_PRELOAD_H

#include "collect/timer_directory.h"

struct launch_env;

/* name: of the variable by which the library finds the directory. */
void timer_preload_set(struct launch_env *env, struct timer_directory *d,
		       const char *name);

#endif
