/* SPDX-License-Identifier: Apache-2.0
 *
 * location_table - (image, offset, flags) to location id.
 *
 * Zero-initialise, release with location_table_fini().
 */
#ifndef DWELL_STORE_LOCATION_TABLE_H
#define DWELL_STORE_LOCATION_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "store/model.h"

struct location_table {
	VEC(struct model_location) all;
	uint32_t *slots; /* id + 1, 0: free */
	size_t cap;	 /* a power of two, or 0 */
	size_t n_settled;
};

void location_table_fini(struct location_table *t);
uint32_t location_table_add(struct location_table *t, const struct model_location *l);
/* All locations are written; those from n_settled on were fresh. */
void location_table_settle(struct location_table *t);

#endif
