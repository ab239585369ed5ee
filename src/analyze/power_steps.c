/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/power_steps.h"

#include <inttypes.h>
#include <stdio.h>

void power_steps_add(struct power_steps *s, const char *label, uint64_t n)
{
	uint64_t least = 0;
	unsigned step = 0;

	if (sscanf(label, "[from %" SCNu64, &least) != 1)
		return;
	for (; least; least /= 2)
		step++;
	if (step == POWER_STEPS)
		return;
	s->n[step] += n;
	s->sum += n;
}

uint64_t power_steps_least(unsigned step)
{
	return step ? UINT64_C(1) << (step - 1) : 0;
}

unsigned power_steps_first(const struct power_steps *s)
{
	unsigned first = 0;

	while (s->sum && !s->n[first])
		first++;
	return first;
}

unsigned power_steps_end(const struct power_steps *s)
{
	unsigned end = s->sum ? POWER_STEPS : 0;

	while (end && !s->n[end - 1])
		end--;
	return end;
}

uint64_t power_steps_below(const struct power_steps *s)
{
	return s->sum ? power_steps_least(power_steps_end(s)) : 0;
}
