/* SPDX-License-Identifier: Apache-2.0
 *
 * fatal - what the engine cannot go on after.
 */
#ifndef DWELL_COUNT_FATAL_H
#define DWELL_COUNT_FATAL_H

#include <stdint.h>

/* Says "dwell: TEXT" and the number, if there is one, and ends the process. */
_Noreturn void fatal(const char *text);
_Noreturn void fatal_at(const char *text, uint64_t number);

/* Instead of all that; does not return.  NULL: as before. */
void fatal_set_instead(void (*instead)(const char *text));

#endif
