/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_regions_none - where no regions are traced.
 */
#include "inject/trace_regions.h"

void trace_regions_init(void)
{
}

void trace_regions_after_fork(void)
{
}
