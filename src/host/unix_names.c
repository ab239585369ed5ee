/* SPDX-License-Identifier: Apache-2.0 */
#include "host/unix_names.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "host/procfs.h"

#define FILE_BYTES_MAX ((size_t)64 << 20)

/* "0000: 00000002 00000000 00010000 0001 01 12345 @name": the name is the eighth, and '@'
 * stands for its byte 0. */
static const char *name_of(const char *line, size_t n)
{
	const char *name = memchr(line, '@', n);

	return name && name > line && name[-1] == ' ' ? name + 1 : NULL;
}

static bool is_plain(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && s[i] != '.' && s[i] != '-')
			return false;
	return true;
}

static bool take(const char *name, size_t n, const char *prefix, char ret[UNIX_NAMES_MAX])
{
	if (n >= UNIX_NAMES_MAX - 1 || n < strlen(prefix) ||
	    memcmp(name, prefix, strlen(prefix)) != 0 || !is_plain(name, n))
		return false;
	memcpy(ret, name, n);
	ret[n] = '\0';
	return true;
}

bool unix_names_next(const char **at, const char *end, const char *prefix,
		     char ret[UNIX_NAMES_MAX])
{
	while (*at < end) {
		const char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));
		const char *name;

		stop = stop ? stop : end;
		*at = stop < end ? stop + 1 : end;
		name = name_of(line, (size_t)(stop - line));
		if (name && take(name, (size_t)(stop - name), prefix, ret))
			return true;
	}
	return false;
}

int unix_names_each(const char *prefix, size_t max, unix_names_fn *fn, void *ctx,
		    struct err *e)
{
	struct buf text = { 0 };
	int rc = procfs_read("/proc/net/unix", FILE_BYTES_MAX, &text, e);
	const char *at = (const char *)text.data;
	char name[UNIX_NAMES_MAX];

	for (size_t i = 0; rc == 0 && i < max; i++) {
		if (!unix_names_next(&at, (const char *)text.data + text.size, prefix,
				     name))
			break;
		fn(ctx, name);
	}
	buf_fini(&text);
	return rc;
}
