/* SPDX-License-Identifier: Apache-2.0
 *
 * /proc/PID/task/TID/syscall, status and stack, and the names of the kernel.
 */
#include "host/proc_wait.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "host/kernel_names.h"

static void find(const struct kernel_names *k, const struct proc_wait_kernel_frame *f)
{
	uint64_t pc;

	if (kernel_names_find(k, f, &pc) && (!f->name[0] || f->off >= f->size))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own(freep) char *text = xstrndup((const char *)data, size);
	own(kernel_names_freep) struct kernel_names *k =
		kernel_names_new(text, strlen(text));
	const char *at = text, *end = text + strlen(text);
	struct proc_wait_kernel_frame f;
	uint64_t sp, pc, n;

	if (proc_wait_parse_syscall(text, &sp, &pc) && (!sp || !pc))
		abort();
	(void)proc_wait_parse_switches(text, &n);
	while (proc_wait_next_kernel_frame(&at, &f)) {
		if (at > end)
			abort();
		find(k, &f);
	}
	if (at != end)
		abort();
	return 0;
}
