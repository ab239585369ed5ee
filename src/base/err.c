/* SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *e, int code, const char *fmt, ...)
{
	if (!e)
		return code;

	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	e->code = code;
	e->os = 0;
	return code;
}

int err_os(struct err *e, const char *fmt, ...)
{
	int os = errno;

	if (!e)
		return ERR_OS;

	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);

	size_t n = strlen(e->text);

	snprintf(e->text + n, sizeof(e->text) - n, ": %s", strerror(os));
	e->code = ERR_OS;
	e->os = os;
	return ERR_OS;
}

int err_in(struct err *e, int rc, const char *where)
{
	char old[sizeof(e->text)];

	if (!e)
		return rc;
	memcpy(old, e->text, sizeof(old));
	snprintf(e->text, sizeof(e->text), "%s: ", where);

	size_t n = strlen(e->text);
	size_t room = sizeof(e->text) - 1 - n;
	size_t keep = strnlen(old, room);

	memcpy(e->text + n, old, keep);
	e->text[n + keep] = '\0';
	return rc;
}
