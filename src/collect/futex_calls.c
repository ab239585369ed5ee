/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/futex_calls.h"

#include <stddef.h>
#include <string.h>

#include "host/syscall_name.h"

/* A thread that ends wakes who waits for that. */
static const struct {
	const char *name;
	enum futex_record_call call;
} calls[] = {
	{ "futex", FUTEX_RECORD_FUTEX },
	{ "futex_time64", FUTEX_RECORD_FUTEX },
	{ "futex_wait", FUTEX_RECORD_WAITS },
	{ "futex_waitv", FUTEX_RECORD_WAITS_MANY },
	{ "futex_wake", FUTEX_RECORD_WAKES },
	{ "futex_requeue", FUTEX_RECORD_WAKES },
	{ "exit", FUTEX_RECORD_WAKES },
	{ "restart_syscall", FUTEX_RECORD_RESTARTS },
};

static enum futex_record_call call_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].call;
	return FUTEX_RECORD_NO_CALL;
}

void futex_calls_number(uint8_t ret[FUTEX_RECORD_CALLS_MAX], bool is_32bit)
{
	for (uint32_t number = 0; number < FUTEX_RECORD_CALLS_MAX; number++)
		ret[number] = (uint8_t)call_of(syscall_name(number, is_32bit));
}

const char *futex_calls_how(uint32_t how)
{
	static const char *const texts[FUTEX_RECORD_N_HOWS] = {
		[FUTEX_RECORD_ONE] = "[futex]",
		[FUTEX_RECORD_OF_MANY] = "[futex, of several]",
		[FUTEX_RECORD_INHERITS] = "[futex, with priority]",
		[FUTEX_RECORD_REQUEUED] = "[futex, requeued]",
	};

	return how < FUTEX_RECORD_N_HOWS && texts[how] ? texts[how] : "[futex]";
}
