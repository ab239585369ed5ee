/* SPDX-License-Identifier: Apache-2.0
 *
 * Filters of system calls, as another process has set them: four bytes say which call it
 * is, the rest is the filter.
 */
#include "decode/seccomp_filter.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/own.h"

#define SHORTEST 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seccomp_data call = { 0 };
	uint32_t ret = 0, again = 0;
	size_t n;

	if (size < SHORTEST)
		return 0;
	memcpy(&call.nr, data, SHORTEST);
	n = (size - SHORTEST) / sizeof(struct sock_filter);

	own(freep) struct sock_filter *code = xcalloc(n + 1, sizeof(*code));

	memcpy(code, data + SHORTEST, n * sizeof(*code));
	if (!seccomp_filter_run(code, n, &call, &ret)) {
		if (ret)
			abort(); /* written on success only */
		return 0;
	}
	if (!seccomp_filter_run(code, n, &call, &again) || ret != again)
		abort();
	return 0;
}
