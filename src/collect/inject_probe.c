/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_probe.h"

#include <fcntl.h>
#include <unistd.h>

#include "collect/inject.h"
#include "collect/inject_cancel.h"
#include "collect/inject_linker.h"
#include "collect/inject_objects.h"
#include "collect/inject_status.h"
#include "wire/tracer.h"

static int look_for_cancel(pid_t pid, struct err *e)
{
	own(closep) int fd = -1;
	own(inject_objects_fini) struct inject_objects objects = { 0 };
	struct inject_memory m;
	uint64_t debug;
	int rc = inject_memory_open(pid, O_RDONLY, &fd, &m, e);

	if (rc == 0)
		rc = inject_linker_find(pid, &m, &debug, e);
	if (rc == 0)
		rc = inject_objects_read(&m, debug, &objects, e);
	return rc < 0 ? rc : inject_cancel_check(&m, &objects, WIRE_TRACER_IO, e);
}

int inject_probe(pid_t pid, uint32_t traces, struct err *e)
{
	struct err why = { 0 };
	int rc;

	if (inject_why_not)
		return err_set(e, ERR_UNSUPPORTED, "%s", inject_why_not);
	rc = inject_status_check(pid, e);
	if (rc < 0 || !(traces & WIRE_TRACER_IO))
		return rc;
	rc = look_for_cancel(pid, &why);
	if (rc != ERR_UNSUPPORTED)
		return 0;
	if (e)
		*e = why;
	return rc;
}
