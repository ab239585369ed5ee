/* SPDX-License-Identifier: Apache-2.0
 *
 * tracer_library - the injected library that traces, as bytes inside the dwell program.
 *
 * So a target finds it where the recorder writes it, however dwell is installed.
 */
#ifndef DWELL_WIRE_TRACER_LIBRARY_H
#define DWELL_WIRE_TRACER_LIBRARY_H

#include <stddef.h>

extern const unsigned char tracer_library[], tracer_library_32bit[];
extern const size_t tracer_library_size;
/* An empty library for 32-bit programs, or 0: their dynamic linker would complain on
 * stderr about the real one. */
extern const size_t tracer_library_32bit_size;

/* The same for a process that runs: it needs no thread-local storage.  0 bytes: it is not
 * put into any on this CPU. */
extern const unsigned char tracer_injected[];
extern const size_t tracer_injected_size;

#endif
