/* SPDX-License-Identifier: Apache-2.0
 *
 * count_layers - a child's file of counts with what its parent's has of it.
 *
 * What the tables begin with is in the parent's (wire/count_file.h), which may itself be
 * one of several layers.  Windows are borrowed.
 */
#ifndef DWELL_COLLECT_COUNT_LAYERS_H
#define DWELL_COLLECT_COUNT_LAYERS_H

#include <stdbool.h>

#include "base/own.h"
#include "collect/count_window.h"
#include "wire/count_file.h"

struct count_layers {
	const struct count_window *own, *below; /* the child's, the parent's */
	struct count_file_base there;		/* in the parent's */
};

/* ret: of all of it. below is NULL where there is none; false: there should be one. */
must_use bool count_layers_over(const struct count_window *own,
				const struct count_window *below, struct count_layers *l,
				struct count_window *ret);

#endif
