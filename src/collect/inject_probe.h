/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_probe - what can be told of a running process before anything is put into it.
 */
#ifndef DWELL_COLLECT_INJECT_PROBE_H
#define DWELL_COLLECT_INJECT_PROBE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"

/* traces: of enum wire_tracer_trace; others may be asked for without these.  What cannot
 * be seen now may be seen when it is to be done, as libraries may be being loaded: then
 * it is 0. */
must_use int inject_probe(pid_t pid, uint32_t traces, struct err *e);

#endif
