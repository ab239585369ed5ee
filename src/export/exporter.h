/* SPDX-License-Identifier: Apache-2.0
 *
 * exporter - a profile in another tool's format.
 *
 * Each format is one file that exports one const struct, and one line in
 * exporters.def; no format name appears anywhere else.
 */
#ifndef DWELL_EXPORT_EXPORTER_H
#define DWELL_EXPORT_EXPORTER_H

#include <stdio.h>

#include "analyze/profile.h"
#include "base/err.h"
#include "base/own.h"

struct export_options {
	size_t column;	   /* the event, for formats that hold one */
	bool has_column;   /* false: all events where the format can, else the first */
	const char *title; /* or NULL */
};

struct exporter {
	const char *name, *suffix, *mime, *summary;
	bool is_binary;
	int (*write)(const struct profile *p, const struct export_options *o, FILE *out,
		     struct err *e);
};

/* NULL-terminated, in the order of exporters.def. */
extern const struct exporter *const exporters[];

#endif
