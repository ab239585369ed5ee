/* SPDX-License-Identifier: Apache-2.0
 *
 * demangle - names as compilers write them to names as people wrote them.
 *
 * C++ (Itanium) and Rust (legacy and v0).  Names come from foreign files: what is too
 * long, too deep or not a mangled name at all stays as it is.  No state, any thread.
 */
#ifndef DWELL_SYM_DEMANGLE_H
#define DWELL_SYM_DEMANGLE_H

#include <stdbool.h>

#include "base/buf.h"

/* Replaces the buffer by the readable name and returns true, or leaves it empty. */
bool demangle_name(const char *name, struct buf *ret);

#endif
