/* SPDX-License-Identifier: Apache-2.0
 *
 * name_stem - what of a name stays from build to build.
 *
 * Compilers call the pieces and copies that they make of a function after it; linkers
 * and packagers put versions into the names of files.
 */
#ifndef DWELL_ANALYZE_NAME_STEM_H
#define DWELL_ANALYZE_NAME_STEM_H

#include "base/buf.h"

/* "f" of "f.isra.0.cold", "ns::f(int)" of "ns::f(int) [clone .part.1]", "a::f" of
 * "a::f::h0123456789abcdef". */
void name_stem_function(const char *name, struct buf *ret);
/* "libfoo.so.#" of "libfoo.so.1.2", "prog-#" of "prog-1.0.3". */
void name_stem_image(const char *name, struct buf *ret);

#endif
