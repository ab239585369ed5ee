/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_ways.h"

enum { ON = 1, TO = 2, OUT = 4, IN = 8 };

struct count_ways count_ways_of(const struct count_file_block *b)
{
	/* others: each way has a counter, or is an extra */
	static const uint8_t leads[COUNT_END_ENTER + 1] = {
		[COUNT_END_ON] = ON,	     [COUNT_END_CONDITIONAL] = ON | TO,
		[COUNT_END_SYSCALL] = ON,    [COUNT_END_JUMP] = TO,
		[COUNT_END_CALL] = TO,	     [COUNT_END_RETURN] = TO | OUT,
		[COUNT_END_ENTER] = TO | IN,
	};
	unsigned how = b->end <= COUNT_END_ENTER ? leads[b->end] : 0;

	return (struct count_ways){
		.on = { .is_there = how & ON,
			.nest = b->nest,
			.addr = b->addr + b->size_bytes,
			.counter = b->on },
		.to = { .is_there = how & TO,
			.is_out = how & OUT,
			.nest = how & IN ? b->entered : b->nest,
			.addr = b->target,
			.counter = b->to },
	};
}
