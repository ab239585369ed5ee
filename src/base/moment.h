/* SPDX-License-Identifier: Apache-2.0
 *
 * moment - points in time as people write them.
 *
 *	now · today · yesterday · yesterday 10:30
 *	-2h · -1h30m · 90s ago · 3 days ago
 *	10:30 · 10:30:15			today
 *	2026-11-21 · 2026-11-21 10:30[:15] · 2026-11-21T10:30:15Z
 *	20261121T103015				UTC, as in the names of segments
 *	@1763720000				seconds since 1970
 *
 * In local time unless Z or UTC follows.
 */
#ifndef DWELL_BASE_MOMENT_H
#define DWELL_BASE_MOMENT_H

#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

#define MOMENT_MAX 24

/* now_s and the result are seconds since 1970. */
must_use int moment_parse(const char *s, int64_t now_s, int64_t *ret_s, struct err *e);
/* 2026-11-21 10:30:15, in local time. */
char *moment_text(char out[MOMENT_MAX], int64_t s);
/* 20261121T103015, in UTC. */
char *moment_compact(char out[MOMENT_MAX], int64_t s);

#endif
