/* SPDX-License-Identifier: Apache-2.0
 *
 * timer_leftovers - directories of recorders that were killed, or whose programs went on
 * without them (timer_directory).
 */
#ifndef DWELL_COLLECT_TIMER_LEFTOVERS_H
#define DWELL_COLLECT_TIMER_LEFTOVERS_H

/* The name of a recorder's directory, for mkdtemp(). */
#define TIMER_LEFTOVERS_NAME "dwell-%d-XXXXXX"

/* Remove this user's directories in a place when neither their recorder nor any program
 * that was told of them is there any more. */
void timer_leftovers_remove(const char *place);

#endif
