/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_new.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/lead.h"
#include "inject/next.h"
#include "inject/trace_heap_pass.h"

enum operator{
#define TAKES(name) OPERATOR##name,
#define GIVES(name) OPERATOR##name,
#include "wire/tracer_operators.def"
#undef TAKES
#undef GIVES
	N_OPERATORS,
};

static const char *const names[N_OPERATORS] = {
#define TAKES(name) [OPERATOR##name] = #name,
#define GIVES(name) [OPERATOR##name] = #name,
#include "wire/tracer_operators.def"
#undef TAKES
#undef GIVES
};

static trace_heap_operator_fn *nexts[N_OPERATORS];

static trace_heap_operator_fn *next_of(enum operator which)
{
	if (!nexts[which])
		nexts[which] = (trace_heap_operator_fn *)next_symbol(names[which]);
	return nexts[which];
}

/* The recorder finds them by name. */
#ifdef DWELL_INJECTED
#define WRAPPER(name)                                                                    \
	__attribute__((visibility("default")))                                           \
	trace_heap_operator_fn observe##name __asm__(#name);                             \
                                                                                         \
	__attribute__((visibility("default"))) void *observe##name
#else
#define WRAPPER(name) static void *observe##name
#endif

#define TAKES(name)                                                                      \
	WRAPPER(name)(uintptr_t size, uintptr_t b, uintptr_t c)                          \
	{                                                                                \
		return trace_heap_new(next_of(OPERATOR##name), size, b, c,               \
				      __builtin_frame_address(0));                       \
	}
#define GIVES(name)                                                                      \
	WRAPPER(name)(uintptr_t block, uintptr_t b, uintptr_t c)                         \
	{                                                                                \
		return trace_heap_delete(next_of(OPERATOR##name), block, b, c);          \
	}
#include "wire/tracer_operators.def"
#undef TAKES
#undef GIVES

static trace_heap_operator_fn *const observed[N_OPERATORS] = {
#define TAKES(name) [OPERATOR##name] = observe##name,
#define GIVES(name) [OPERATOR##name] = observe##name,
#include "wire/tracer_operators.def"
#undef TAKES
#undef GIVES
};

void trace_new_begin(void)
{
	struct lead leads[N_OPERATORS];
	bool is_beside;
	size_t n = 0;

	if (next_is_told() || !next_symbol_beside("malloc", names[0], &is_beside) ||
	    !is_beside)
		return;
	for (unsigned i = 0; i < N_OPERATORS; i++) {
		void *next = next_symbol_beside(names[i], "malloc", &is_beside);

		if (!next || !is_beside)
			continue;
		nexts[i] = (trace_heap_operator_fn *)next;
		leads[n++] = (struct lead){ names[i], next, (const void *)observed[i] };
	}
	lead_all(leads, n);
}
