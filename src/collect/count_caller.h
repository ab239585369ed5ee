/* SPDX-License-Identifier: Apache-2.0
 *
 * count_caller - whether a thread that stands can be led elsewhere, and back to where it
 * stands, without the program's noticing.
 */
#ifndef DWELL_COLLECT_COUNT_CALLER_H
#define DWELL_COLLECT_COUNT_CALLER_H

#include "base/err.h"
#include "base/own.h"

struct count_tracee;

/* With its registers in t->regs.  What it may ask the kernel for: count_seccomp.h. */
must_use int count_caller_check(const struct count_tracee *t, struct err *e);

#endif
