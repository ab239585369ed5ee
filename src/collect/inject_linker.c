/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_linker.h"

#include <stdio.h>

#include "base/buf.h"
#include "collect/inject_objects.h"
#include "host/procfs.h"

#define AUXV_MAX 65536

int inject_linker_find(pid_t pid, const struct inject_memory *m, uint64_t *ret,
		       struct err *e)
{
	own(buf_fini) struct buf auxv = { 0 };
	char path[64];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	rc = procfs_read(path, AUXV_MAX, &auxv, e);
	if (rc < 0)
		return rc;
	*ret = inject_objects_debug_by(m, auxv.data, auxv.size);
	return *ret ? 0
		    : err_set(e, ERR_UNSUPPORTED,
			      "it is statically linked: nothing leads its calls "
			      "elsewhere");
}
