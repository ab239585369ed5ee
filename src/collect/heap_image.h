/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_image - the heap of one program image, from the records of its tracer to samples.
 *
 * What a forked child gives back of what it inherited is its parent's, and not counted as
 * unknown.
 */
#ifndef DWELL_COLLECT_HEAP_IMAGE_H
#define DWELL_COLLECT_HEAP_IMAGE_H

#include "collect/timer_image.h"

extern const struct timer_tracing heap_image_tracing;

#endif
