/* SPDX-License-Identifier: Apache-2.0
 *
 * counter_text - a counter as users write it: which one, and where it is to count.
 *
 * "cycles", "cycles:u" (in user code alone; k: in the kernel, h: in the hypervisor, p to
 * ppp: samples nearer to their cause), "r3c" (a number of the CPU's manual),
 * "cpu/event=0x3c,umask=1/u" (terms of a device).
 */
#ifndef DWELL_COLLECT_COUNTER_TEXT_H
#define DWELL_COLLECT_COUNTER_TEXT_H

#include <stddef.h>

#include "base/err.h"
#include "collect/counter.h"

#define COUNTER_TEXT_MAX 128

/* How much of the text names a counter, modifiers among it: what follows is how often it
 * is sampled. */
size_t counter_text_length(const char *text);

/* Lives for ever; the same text gives the same.  NULL, and why in *e: there is none. */
const struct counter *counter_text_find(const char *text, struct err *e);

#endif
