/* SPDX-License-Identifier: Apache-2.0
 *
 * A call that did what it was to has read its lists, so they are in memory; whether one
 * that failed has come to them is not known.
 */
#include "inject/trace_io_asked.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "unwind/local_guard.h"

#define PARTS_MAX    1024 /* the kernel takes no more */
#define MESSAGES_MAX 1024

struct mmsg {
	struct msghdr message;
	uint32_t done;
};

/* guard NULL: it is there.  0 where it is not. */
static uint64_t word(struct local_guard *guard, const void *at)
{
	uint64_t w = 0;

	if (!guard)
		return *(const uint64_t *)at;
	return local_guard_word(guard, (uintptr_t)at, &w) ? w : 0;
}

static uint64_t at_once(uint64_t bytes)
{
	return bytes < IO_RECORD_ASKED_MAX ? bytes : IO_RECORD_ASKED_MAX;
}

static uint64_t parts(struct local_guard *guard, const struct iovec *v, uint64_t n)
{
	uint64_t bytes = 0;

	for (uint64_t i = 0; i < n && i < PARTS_MAX; i++)
		bytes += word(guard, &v[i].iov_len);
	return at_once(bytes);
}

/* Some libraries' length is shorter than the kernel's, with nothing meant behind it. */
static uint64_t message(struct local_guard *guard, const struct msghdr *m)
{
	return parts(guard, (const struct iovec *)word(guard, &m->msg_iov),
		     (uint32_t)word(guard, &m->msg_iovlen));
}

/* The result is how many there were. */
static uint64_t messages(const struct mmsg *m, long *result)
{
	long n = *result > MESSAGES_MAX ? MESSAGES_MAX : *result;
	uint64_t bytes = 0;

	if (n > 0)
		*result = 0;
	for (long i = 0; i < n; i++) {
		bytes += message(NULL, &m[i].message);
		*result += m[i].done;
	}
	return bytes;
}

uint64_t trace_io_asked(enum io_record_asks asks, const long *arguments, long *result)
{
	struct local_guard guard = { 0 }, *g = *result < 0 ? &guard : NULL;

	switch (asks) {
	case IO_RECORD_ASKS_PARTS:
		return parts(g, (const struct iovec *)arguments[1],
			     (uint32_t)arguments[2]);
	case IO_RECORD_ASKS_MESSAGE:
		return message(g, (const struct msghdr *)arguments[1]);
	case IO_RECORD_ASKS_MESSAGES:
		return messages((const struct mmsg *)arguments[1], result);
	case IO_RECORD_ASKS_NONE:
		return 0;
	default:
		return at_once((uint64_t)arguments[asks - IO_RECORD_ASKS_THIRD + 2]);
	}
}
