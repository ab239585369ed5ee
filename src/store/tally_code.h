/* SPDX-License-Identifier: Apache-2.0
 *
 * tally_code - what a tally has of single instructions: which way branches went, and
 * which places in memory were accessed, summed up per class of processes.
 */
#ifndef DWELL_STORE_TALLY_CODE_H
#define DWELL_STORE_TALLY_CODE_H

#include <stddef.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "store/access_place.h"
#include "store/model.h"

struct tally;
struct tally_order;
struct tally_output;

struct tally_access {
	uint32_t process, location;
	struct access_place place;
};

struct tally_code {
	struct intern *direction_keys; /* id - 1 is the row; NULL: none yet */
	VEC(struct model_direction) directions;
	struct map access_of; /* of process and location: row */
	VEC(struct tally_access) accesses;
};

void tally_code_fini(struct tally_code *c);
size_t tally_code_bytes(const struct tally_code *c);
/* What it refers to is in use. */
void tally_code_mark(const struct tally_code *c, struct tally_order *o);
/* By process, location and where it went. */
void tally_code_write(const struct tally_output *out);

#endif
