/* SPDX-License-Identifier: Apache-2.0
 *
 * x86_string - movs, stos and lods, once or repeated.
 *
 * A part of x86_execute.  Freestanding.
 */
#ifndef DWELL_DECODE_X86_STRING_H
#define DWELL_DECODE_X86_STRING_H

#include <stdbool.h>

struct x86_step;

/* False, and nothing is done: it cannot be told what happens. */
bool x86_string(struct x86_step *s);

#endif
