/* SPDX-License-Identifier: Apache-2.0
 *
 * self_maps - this process's executable mappings with their unwind images.
 *
 * Test helper.  Taking the snapshot allocates; looking up does not.
 */
#ifndef DWELL_TESTS_SELF_MAPS_H
#define DWELL_TESTS_SELF_MAPS_H

#include "unwind/offline.h"

struct self_maps {
	struct unwind_map *maps;
	char **names;
	size_t n;
};

void self_maps_read(struct self_maps *m);
void self_maps_fini(struct self_maps *m);
/* An unwind_find_map_fn on a struct self_maps. */
const struct unwind_map *self_maps_find(void *self_maps, uint64_t pc);

/* "libc.so.6+0x1234" of a pc, in a static buffer. */
const char *self_maps_where(const struct self_maps *m, uint64_t pc);

#endif
