/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/path.h"

#include <stdbool.h>
#include <string.h>

static bool is_part(const char *part, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(part, text, n) == 0;
}

/* Length after dropping the last part, or n when there is none to drop. */
static size_t drop_last(const char *path, size_t root, size_t n)
{
	size_t at = n;

	while (at > root && path[at - 1] != '/')
		at--;
	if (n == root || is_part(path + at, n - at, ".."))
		return n;
	return at > root ? at - 1 : root;
}

size_t path_normalize(char *path, size_t n)
{
	size_t root = n && *path == '/', out = root;

	for (size_t at = root; at < n;) {
		const char *slash = memchr(path + at, '/', n - at);
		size_t part = slash ? (size_t)(slash - path) - at : n - at;
		const char *text = path + at;

		at += part + 1;
		if (!part || is_part(text, part, "."))
			continue;
		if (is_part(text, part, "..")) {
			size_t shorter = drop_last(path, root, out);

			if (shorter != out || root) {
				out = shorter;
				continue;
			}
		}
		if (out > root)
			path[out++] = '/';
		memmove(path + out, text, part);
		out += part;
	}
	return out;
}
