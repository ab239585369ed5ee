/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_cancel.h"

#include <stdbool.h>
#include <string.h>

#include "collect/inject_tables.h"
#include "wire/tracer.h"

static void look_at(void *ctx, uint64_t slot, const char *name, uint64_t number,
		    uint32_t symbol)
{
	bool *is_used = ctx;

	(void)slot;
	(void)number;
	(void)symbol;
	*is_used |= !strcmp(name, "pthread_cancel");
}

int inject_cancel_check(const struct inject_memory *m,
			const struct inject_objects *objects, uint32_t traces,
			struct err *e)
{
	bool is_used = false;

	if (!(traces & WIRE_TRACER_IO))
		return 0;

	vec_each(o, &objects->at) {
		struct inject_tables t;

		if (inject_tables_open(m, o, &t))
			inject_tables_slots(&t, look_at, &is_used);
	}
	return is_used ? err_set(e, ERR_UNSUPPORTED,
				 "it calls pthread_cancel(): who is cancelled could not "
				 "clean up")
		       : 0;
}
