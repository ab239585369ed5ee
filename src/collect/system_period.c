/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_period.h"

#include <stdbool.h>

/* A tenth of the mean to each side. */
#define SPAN(mean) ((mean) / 10)

uint64_t system_period_draw(struct system_period *p, uint64_t mean, uint64_t n,
			    uint64_t random)
{
	uint64_t away = (random >> 1) % (SPAN(mean) + 1);
	bool is_shorter = random & 1;

	if (p->now)
		p->owed += (int64_t)n * ((int64_t)p->now - (int64_t)mean);
	if (p->owed)
		is_shorter = p->owed > 0;
	p->now = is_shorter ? mean - away : mean + away;
	return p->now;
}
