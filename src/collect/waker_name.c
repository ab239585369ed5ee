/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/waker_name.h"

#include <stdio.h>
#include <string.h>

#include "wire/state_record.h"

/* The frames are the kernel's alone: a thread of the kernel, of which there is one for
 * each CPU or more ("kworker/0:1-events"). */
static size_t name_size(const struct stack_record *r)
{
	size_t n = strnlen(r->comm, sizeof(r->comm));
	const char *slash = memchr(r->comm, '/', n);

	return slash && !r->n_user ? (size_t)(slash - r->comm) : n;
}

void waker_name(const struct state_code *code, const struct stack_record *waker,
		char ret[WAKER_NAME_MAX])
{
	const char *kind;

	if (waker->state != STATE_RECORD_INTERRUPT) {
		snprintf(ret, WAKER_NAME_MAX, "[woken by %.*s]", (int)name_size(waker),
			 waker->comm);
		return;
	}
	kind = code ? state_code_interrupt(code, waker->frames, waker->n_kernel) : NULL;
	if (kind)
		snprintf(ret, WAKER_NAME_MAX, "[woken by interrupt: %s]", kind);
	else
		snprintf(ret, WAKER_NAME_MAX, "[woken by interrupt]");
}
