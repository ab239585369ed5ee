/* SPDX-License-Identifier: Apache-2.0
 *
 * timer_probe - can the sampler be loaded into a program, and does it suffice?
 */
#ifndef DWELL_COLLECT_TIMER_PROBE_H
#define DWELL_COLLECT_TIMER_PROBE_H

#include "base/err.h"
#include "base/own.h"
#include "collect/source.h"

/* As source_ops.probe. */
must_use int timer_probe(const struct experiment *x, const struct scope *scope,
			 struct err *e);
/* Whether anything can be loaded into a program, which may be NULL: unknown.  instead:
 * what to do else, behind the reason. */
must_use int timer_probe_program(const char *name, const char *instead, struct err *e);
/* Does it mark what it does, and can a library of ours be loaded into it that hears it?
 */
bool timer_probe_marks(const char *name);

#endif
