/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/io_steps.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t least(unsigned step, unsigned shift)
{
	return step ? UINT64_C(1) << (step - 1 + shift) : 0;
}

static void name(char (*ret)[IO_STEPS_NAME_MAX], unsigned n, unsigned shift,
		 const char *unit)
{
	for (unsigned i = 0; i < n; i++)
		snprintf(ret[i], IO_STEPS_NAME_MAX, "[from %" PRIu64 " %s]",
			 least(i, shift), unit);
}

void io_steps_name(struct io_steps *ret)
{
	name(ret->sizes, IO_RECORD_SIZES, 0, "bytes");
	name(ret->times, IO_RECORD_TIMES, IO_RECORD_TIME_SHIFT, "ns");
}

void io_steps_take(uint32_t *ret, uint32_t *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = at[i] ? __atomic_exchange_n(&at[i], 0, __ATOMIC_SEQ_CST) : 0;
}
