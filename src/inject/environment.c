/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/environment.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The value in "NAME=value" when it is that name. */
static char *value_of(char *entry, const char *name)
{
	size_t n = strlen(name);

	return memcmp(entry, name, n < strlen(entry) ? n : strlen(entry)) == 0 &&
			       strlen(entry) > n && entry[n] == '='
		       ? entry + n + 1
		       : NULL;
}

const char *environment_get(char **env, const char *name)
{
	for (; env && *env; env++) {
		const char *v = value_of(*env, name);

		if (v)
			return v;
	}
	return NULL;
}

static bool is_separator(char c)
{
	return c == ':' || c == ' ';
}

/* Take the first entry below directory out of a list; false when nothing is left. */
static bool cut_entry(char *list, const char *directory)
{
	size_t n = strlen(directory);
	char *at = list;

	while (*at) {
		char *end = at;

		while (*end && !is_separator(*end))
			end++;
		if ((size_t)(end - at) > n && memcmp(at, directory, n) == 0 &&
		    at[n] == '/') {
			end += *end != 0;
			memmove(at, end, strlen(end) + 1);
			break;
		}
		at = end + (*end != 0);
	}
	for (size_t i = strlen(list); i && is_separator(list[i - 1]); i--)
		list[i - 1] = 0;
	return *list != 0;
}

void environment_forget(char **env, const char *name, const char *directory)
{
	char **to = env;

	for (; *env; env++) {
		char *preload = value_of(*env, "LD_PRELOAD");

		if (value_of(*env, name) || (preload && !cut_entry(preload, directory)))
			continue;
		*to++ = *env;
	}
	*to = NULL;
}
