/* SPDX-License-Identifier: Apache-2.0
 *
 * region_control - what programs are told of how their regions are to be observed
 * (wire/regions.h), in the control file.
 */
#ifndef DWELL_COLLECT_REGION_CONTROL_H
#define DWELL_COLLECT_REGION_CONTROL_H

#include "base/err.h"
#include "base/own.h"

struct source_context;

/* Before any program has begun. */
must_use int region_control_write(int control_fd, const struct source_context *c,
				  struct err *e);

#endif
