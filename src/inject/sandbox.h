/* SPDX-License-Identifier: Apache-2.0
 *
 * sandbox - a program that restricts its own system calls (seccomp) is left alone.
 *
 * What it forbids may end it, so from then on this library makes no system call there:
 * threads that have what they need go on being observed, new ones and children are not.
 */
#ifndef DWELL_INJECT_SANDBOX_H
#define DWELL_INJECT_SANDBOX_H

#include <stdbool.h>

/* Whether this process, or one that it was forked from, has restricted its calls. */
bool sandbox_is_on(void);
/* Look up what the wrappers hide, while it is safe to. */
void sandbox_init(void);

/* What the library that this is in does about it, and defines: just before the call that
 * restricts, and after it with what the former returned. */
void *sandbox_before(bool is_strict);
void sandbox_after(void *stopped, bool has_failed);
/* Another call by number, which comes by here as well: before it, and behind. */
void sandbox_note(long nr, const long *arguments);

#endif
