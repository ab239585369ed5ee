/* SPDX-License-Identifier: Apache-2.0
 *
 * sampler_library - the injected library itself, as bytes inside the dwell program.
 *
 * So a target finds it where the recorder writes it, however dwell is installed.
 */
#ifndef DWELL_WIRE_SAMPLER_LIBRARY_H
#define DWELL_WIRE_SAMPLER_LIBRARY_H

#include <stddef.h>

extern const unsigned char sampler_library[], sampler_library_32bit[];
extern const size_t sampler_library_size;
/* An empty library for 32-bit programs, or 0: their dynamic linker would complain on
 * stderr about the real one. */
extern const size_t sampler_library_32bit_size;

#endif
