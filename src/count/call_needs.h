/* SPDX-License-Identifier: Apache-2.0
 *
 * call_needs - which system calls the engine makes by itself for a program that is about
 * to forbid itself some, and whether the program would be ended for one.
 *
 * Found out by trying them on the filter; nobody makes them.  Calls that fail instead are
 * none of that, the engine does without: but for memory, and for the end of the handler
 * where they are trapped.
 */
#ifndef DWELL_COUNT_CALL_NEEDS_H
#define DWELL_COUNT_CALL_NEEDS_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

/* has_threads: there are others than the one that sets the filter. */
bool call_needs_are_met(const struct sock_filter *code, size_t n, bool has_threads);

/* Nothing fails that the engine would make without a filter, or a recorder by the
 * program's threads: all can be as before. */
bool call_needs_are_untouched(const struct sock_filter *code, size_t n);

#endif
