/* SPDX-License-Identifier: Apache-2.0
 *
 * chronicle_values - what is beside the threads of a chronicle: sizes and counts over
 * time.
 *
 * What processes hold of the heap, at its most in each cell, and what the system counted.
 */
#ifndef DWELL_ANALYZE_CHRONICLE_VALUES_H
#define DWELL_ANALYZE_CHRONICLE_VALUES_H

#include <stdint.h>

#include "analyze/chronicle.h"
#include "base/err.h"
#include "base/vec.h"

struct chronicle_value {
	const char *name, *unit;
	const struct model_process *process; /* whose it is, NULL: of all of them */
	double *cells;			     /* NAN: not known */
	double most;
};

struct chronicle_values {
	VEC(struct chronicle_value) all;
};

must_use int chronicle_values_load(struct chronicle_values *v, const struct chronicle *t,
				   const struct profile *p, size_t source, struct err *e);
void chronicle_values_fini(struct chronicle_values *v);

#endif
