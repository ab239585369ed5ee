/* SPDX-License-Identifier: Apache-2.0
 *
 * x86_blur - makes unknown what an instruction may change that is not executed.
 *
 * A part of x86_execute.  Never too little.  Freestanding.
 */
#ifndef DWELL_DECODE_X86_BLUR_H
#define DWELL_DECODE_X86_BLUR_H

#include <stdbool.h>

struct x86_step;

/* False: nobody knows what happens here. */
bool x86_blur(struct x86_step *s);

#endif
