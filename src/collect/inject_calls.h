/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_calls - the calls that are traced in a running process: where it has them, and
 * what of ours takes their place.
 */
#ifndef DWELL_COLLECT_INJECT_CALLS_H
#define DWELL_COLLECT_INJECT_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/inject_memory.h"
#include "collect/inject_objects.h"
#include "collect/inject_tables.h"
#include "wire/injected.h"

enum {
#define CALL(trace, name) INJECT_CALL_##name,
#define HELPER(name)	  INJECT_CALL_##name,
#define ALWAYS(name)	  INJECT_CALL_##name,
#define AT_END(name)	  INJECT_CALL_##name,
#define EXECUTES(name)	  INJECT_CALL_##name,
#include "wire/tracer_calls.def"
#undef EXECUTES
#undef AT_END
#undef CALL
#undef HELPER
#undef ALWAYS
	INJECT_N_CALLS,
};

struct inject_calls {
	struct wire_injected_call of[INJECT_N_CALLS];
	uint64_t wrapper[INJECT_N_CALLS]; /* 0: it is left alone */
	/* There is another of that name, which some of its programs mean. */
	bool has_older[INJECT_N_CALLS];
	/* Where its object tells the linker of it; at 0: it is left alone. */
	struct inject_symbol symbol[INJECT_N_CALLS];
};

/* Where the process has them: the first of its objects that does. */
void inject_calls_find(struct inject_calls *c, const struct inject_memory *m,
		       const struct inject_objects *objects);
/* Those that it did not have, in objects that were not there before.  How many. */
size_t inject_calls_find_more(struct inject_calls *c, const struct inject_memory *m,
			      const struct inject_objects *before,
			      const struct inject_objects *now);
/* Is it asked for with those traces? */
bool inject_calls_is_wanted(unsigned call, uint32_t traces);
/* Which one that is; INJECT_N_CALLS: none of them. */
unsigned inject_calls_named(const struct inject_calls *c, const char *name);

#endif
