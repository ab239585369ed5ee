/* SPDX-License-Identifier: Apache-2.0
 *
 * timer_prospect - may a library of ours still come to be in what a process runs?
 *
 * On a busy machine it takes any time until a program that was just begun loads it; what
 * the program is, and what its environment says, is known at once.
 */
#ifndef DWELL_COLLECT_TIMER_PROSPECT_H
#define DWELL_COLLECT_TIMER_PROSPECT_H

#include <stdbool.h>
#include <sys/types.h>

#include "collect/timer_directory.h"

/* False: also where it may not be looked at.  d NULL: nobody meets us anywhere. */
bool timer_prospect(pid_t pid, const struct timer_directory *d);
/* Is it about to, as its dynamic linker has not looked for the library yet? */
bool timer_prospect_is_coming(pid_t pid, const struct timer_directory *d);
/* Why it never will, by what it runs; NULL: it may, or it has ended. */
const char *timer_prospect_never(pid_t pid);
/* Is that file the GNU C library? */
bool timer_prospect_is_c_library(const char *path);

#endif
