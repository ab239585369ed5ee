/* SPDX-License-Identifier: Apache-2.0
 *
 * preload - what an environment says for a library of ours to be loaded: the recorder
 * makes one so, and the tracer that of what its program executes; the library takes it
 * out again.
 *
 * LD_PRELOAD has ours as its first entry, and a colon behind it tells that there was a
 * list before, if an empty one.  The address sanitizer insists on being first of all
 * libraries, unless told: that is the last of ASAN_OPTIONS, and its colon tells that it
 * is ours.
 *
 * Freestanding.
 */
#ifndef DWELL_WIRE_PRELOAD_H
#define DWELL_WIRE_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define WIRE_PRELOAD_LIST	"LD_PRELOAD"
#define WIRE_PRELOAD_OPTIONS	"ASAN_OPTIONS"
#define WIRE_PRELOAD_ORDER_NAME "verify_asan_link_order="
#define WIRE_PRELOAD_ANY_ORDER	WIRE_PRELOAD_ORDER_NAME "0:"

/* A value, to be put together. */
struct wire_preload {
	const char *pieces[3];
};

/* others: the value so far, NULL: there is no such variable. */
static inline struct wire_preload wire_preload_list(const char *ours, const char *others)
{
	return (struct wire_preload){ { ours, others ? ":" : "", others ? others : "" } };
}

static inline struct wire_preload wire_preload_options(const char *others)
{
	return (struct wire_preload){ { others ? others : "", others ? ":" : "",
					WIRE_PRELOAD_ANY_ORDER } };
}

static inline bool wire_preload_separates(char c)
{
	return c == ':' || c == ' ';
}

/* The first entry of a list that is that, or below it, and its end; NULL: there is none.
 */
static inline const char *wire_preload_find(const char *list, const char *path,
					    const char **ret_end)
{
	size_t n = strlen(path);
	const char *end;

	for (const char *at = list; *at; at = end + (*end != 0)) {
		for (end = at; *end && !wire_preload_separates(*end); end++)
			;
		*ret_end = end;
		if ((size_t)(end - at) >= n && memcmp(at, path, n) == 0 &&
		    (at + n == end || at[n] == '/'))
			return at;
	}
	return NULL;
}

/* Do the options decide of the order already? */
static inline bool wire_preload_has_order(const char *options)
{
	const size_t n = sizeof(WIRE_PRELOAD_ORDER_NAME) - 1;

	for (size_t left = strlen(options); left >= n; left--, options++)
		if (memcmp(options, WIRE_PRELOAD_ORDER_NAME, n) == 0)
			return true;
	return false;
}

#endif
