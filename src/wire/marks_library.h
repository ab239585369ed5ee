/* SPDX-License-Identifier: Apache-2.0
 *
 * marks_library - the injected library that hears marks alone, as bytes inside the dwell
 * program.
 *
 * So a target finds it where the recorder writes it, however dwell is installed.
 */
#ifndef DWELL_WIRE_MARKS_LIBRARY_H
#define DWELL_WIRE_MARKS_LIBRARY_H

#include <stddef.h>

extern const unsigned char marks_library[], marks_library_32bit[];
extern const size_t marks_library_size;
/* An empty library for 32-bit programs, or 0: their dynamic linker would complain on
 * stderr about the real one. */
extern const size_t marks_library_32bit_size;

#endif
