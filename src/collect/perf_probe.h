/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_probe - may this user have perf events here, and are they enough?
 */
#ifndef DWELL_COLLECT_PERF_PROBE_H
#define DWELL_COLLECT_PERF_PROBE_H

#include "base/err.h"
#include "base/own.h"
#include "collect/source.h"

/* As source_ops.probe. */
must_use int perf_probe(const struct experiment *x, const struct scope *scope,
			struct err *e);

#endif
