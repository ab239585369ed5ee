/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_cancel - whether threads of a running process may be cancelled.
 *
 * One that is cancelled in a call is unwound through whoever called it, and nobody finds
 * the tables of a library that the dynamic linker does not know: what the program wants
 * to be called then would not be.
 */
#ifndef DWELL_COLLECT_INJECT_CANCEL_H
#define DWELL_COLLECT_INJECT_CANCEL_H

#include "base/err.h"
#include "base/own.h"
#include "collect/inject_memory.h"
#include "collect/inject_objects.h"

/* traces: of enum wire_tracer_trace.  ERR_UNSUPPORTED: one of these calls
 * pthread_cancel(), and calls are led in which threads wait. */
must_use int inject_cancel_check(const struct inject_memory *m,
				 const struct inject_objects *objects, uint32_t traces,
				 struct err *e);

#endif
