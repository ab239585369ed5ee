/* SPDX-License-Identifier: Apache-2.0
 *
 * /proc/PID/maps: every mapping that is handed out is one.
 */
#include "host/proc_maps.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	struct proc_map m;

	while (proc_maps_next(&at, end, &m))
		if (m.start >= m.end || at > end)
			abort();
	if (at != end)
		abort();
	return 0;
}
