/* SPDX-License-Identifier: Apache-2.0
 *
 * err - an error that carries its text.
 *
 * Lives on the caller's stack, allocates nothing.  A fallible function takes
 * `struct err *e` last (NULL allowed) and returns 0 or a negative enum err_code.
 * The message is composed where the failure is known; callers only prefix it.
 * One line, without a full stop; it names the file and the place.
 */
#ifndef DWELL_BASE_ERR_H
#define DWELL_BASE_ERR_H

#include <stdarg.h>

enum err_code {
	ERR_OS = -1,	      /* a system call failed; errno is in the text */
	ERR_FORMAT = -2,      /* bytes that cannot be understood */
	ERR_LIMIT = -3,	      /* larger than a stated limit */
	ERR_UNSUPPORTED = -4, /* not available here */
	ERR_USAGE = -5,	      /* the user's words are off */
};

struct err {
	int code; /* enum err_code, 0 when unset */
	int os;	  /* errno of an ERR_OS, else 0 */
	char text[500];
};

/* All three return the code, so that `return err_set(...)` reads well. */
int err_set(struct err *e, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Appends ": strerror(errno)". */
int err_os(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prefix the text with "where: ". */
int err_in(struct err *e, int rc, const char *where);

#endif
