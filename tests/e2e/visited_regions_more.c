/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that marks what it does (visited_regions.c).
 */
#include <dwell.h>

int library_is_heard(void);
void library_works(unsigned n);

DWELL_REGION(library_region, "in the library", NULL);

int library_is_heard(void)
{
	return dwell_recorder() != NULL;
}

void library_works(unsigned n)
{
	while (n--) {
		dwell_begin(&library_region);
		dwell_end(&library_region);
	}
}
