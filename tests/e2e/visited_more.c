/* SPDX-License-Identifier: Apache-2.0
 *
 * visited_more - a library that a program loads while it is traced.
 */
#include <stdlib.h>

void take(void);

static void *volatile kept;

void take(void)
{
	kept = malloc(321);
	free(kept);
}
