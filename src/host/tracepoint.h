/* SPDX-License-Identifier: Apache-2.0
 *
 * tracepoint - what the kernel tells of its tracepoints, under tracefs.
 */
#ifndef DWELL_HOST_TRACEPOINT_H
#define DWELL_HOST_TRACEPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

#define TRACEPOINT_ROOT "/sys/kernel/tracing"

/* Of a tracepoint's record. */
struct tracepoint_field {
	uint32_t offset, size; /* size: 1, 2, 4 or 8 */
	bool is_signed;
};

/* Is there GROUP:NAME?  ERR_USAGE names the nearest. */
must_use int tracepoint_check(const char *root, const char *group, const char *name,
			      struct err *e);
/* A numeric field of it.  ERR_USAGE names those that there are. */
must_use int tracepoint_find_field(const char *root, const char *group, const char *name,
				   const char *field, struct tracepoint_field *ret,
				   struct err *e);
/* The same of the text of its format. */
must_use int tracepoint_parse_field(const char *format, const char *field,
				    struct tracepoint_field *ret, struct err *e);

#endif
