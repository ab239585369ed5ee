/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/environment.h"

#include <string.h>

#include "bare/sys.h"

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

/* More is no environment that execve takes. */
#define INITIAL_BYTES (UINT64_C(4) << 20)

static size_t read_initial(char *text)
{
	int fd = sys_open("/proc/self/environ", O_RDONLY | O_CLOEXEC, 0);
	size_t n = 0;
	long got = 1;

	while (fd >= 0 && got > 0 && n < INITIAL_BYTES - 1) {
		got = sys_read(fd, text + n, INITIAL_BYTES - 1 - n);
		n += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		sys_close(fd);
	return n;
}

bool environment_initial(const char *name, char *ret, size_t cap)
{
	char *text = sys_map(INITIAL_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	size_t n = text ? read_initial(text) : 0;
	bool is_found = false;

	for (size_t at = 0; at < n && !is_found; at += strlen(text + at) + 1) {
		const char *v = value_of(text + at, name);

		is_found = v && strlen(v) < cap;
		if (is_found)
			memcpy(ret, v, strlen(v) + 1);
	}
	if (text)
		sys_unmap(text, INITIAL_BYTES);
	return is_found;
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
