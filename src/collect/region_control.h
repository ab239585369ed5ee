/* SPDX-License-Identifier: Apache-2.0
 *
 * region_control - what programs are told of how their regions are to be observed
 * (wire/tracer_regions.h), in the control file.
 */
#ifndef DWELL_COLLECT_REGION_CONTROL_H
#define DWELL_COLLECT_REGION_CONTROL_H

#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

struct source_context;

/* What is active in all threads is to be told, as it is now. */
void region_control_ask(int control_fd, uint64_t n_asked, uint64_t now_ns);
/* Before any program has begun. */
must_use int region_control_write(int control_fd, const struct source_context *c,
				  struct err *e);

#endif
