/* SPDX-License-Identifier: Apache-2.0
 *
 * /proc/net/unix, in which anybody may put names: each that is handed out begins as it
 * was asked for, and fits.
 */
#include "host/unix_names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "dwell-"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *end = at + size;
	char name[UNIX_NAMES_MAX];

	while (unix_names_next(&at, end, PREFIX, name))
		if (at > end || strlen(name) >= UNIX_NAMES_MAX - 1 ||
		    strncmp(name, PREFIX, strlen(PREFIX)) != 0 || strchr(name, '\n'))
			abort();
	if (at != end)
		abort();
	return 0;
}
