/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/io_calls.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "collect/io_requests.h"
#include "host/syscall_name.h"

/* From wire/io_calls.def. */
static const struct {
	const char *name;
	uint8_t event, file, asks;
} calls[] = {
#define IO_CALL(NAME, EVENT, FILE, ASKS)                                                 \
	{ .name = #NAME,                                                                 \
	  .event = IO_RECORD_##EVENT,                                                    \
	  .file = IO_RECORD_##FILE,                                                      \
	  .asks = IO_RECORD_ASKS_##ASKS },
#include "wire/io_calls.def"
#undef IO_CALL
};

#define N_CALLS (sizeof(calls) / sizeof(calls[0]))

_Static_assert(N_CALLS < IO_CALLS_REQUESTS, "one numbering");
_Static_assert(IO_CALLS_REQUESTS + IO_RECORD_REQUESTS_MAX <= 256, "it has a byte");

static size_t find(const char *name)
{
	size_t i = 0;

	while (i < N_CALLS && strcmp(calls[i].name, name) != 0)
		i++;
	return i;
}

void io_calls_number(struct io_record_call ret[IO_RECORD_CALLS_MAX], bool is_32bit)
{
	for (uint32_t number = 0; number < IO_RECORD_CALLS_MAX; number++) {
		const char *name = syscall_name(number, is_32bit);
		size_t i = name ? find(name) : N_CALLS;

		ret[number] = (struct io_record_call){ 0 };
		if (i < N_CALLS)
			ret[number] = (struct io_record_call){ .index = (uint8_t)(i + 1),
							       .event = calls[i].event,
							       .file = calls[i].file,
							       .asks = calls[i].asks };
	}
}

const char *io_calls_name(uint32_t index)
{
	return index && index <= N_CALLS ? calls[index - 1].name : NULL;
}

uint8_t io_calls_event(uint32_t index)
{
	return io_calls_name(index) ? calls[index - 1].event : IO_RECORD_OTHER;
}

void io_calls_label(uint32_t index, char *ret, size_t cap)
{
	bool is_request = io_calls_is_request(index);
	const char *name = is_request ? io_requests_name(index - IO_CALLS_REQUESTS)
				      : io_calls_name(index);

	snprintf(ret, cap, "[%s %s]", is_request ? "io_uring" : "syscall",
		 name ? name : "?");
}
