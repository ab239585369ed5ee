/* SPDX-License-Identifier: Apache-2.0
 *
 * count_program - the counting engine itself, as bytes inside the dwell program.
 *
 * So it is where the recorder writes it, however dwell is installed, and never another
 * version's.  Empty where there is no engine for the machine.
 */
#ifndef DWELL_WIRE_COUNT_PROGRAM_H
#define DWELL_WIRE_COUNT_PROGRAM_H

#include <stddef.h>

extern const unsigned char count_program[];
extern const size_t count_program_size;

#endif
