/* SPDX-License-Identifier: Apache-2.0
 *
 * debug_server - files by build-id from debuginfod servers.
 *
 * Only when DEBUGINFOD_URLS is set; libdebuginfod is loaded at the first use, so that
 * nobody else pays for it.  What its cache holds is used at once.  All downloads of a
 * process together may take DEBUG_SERVER_SECONDS; then no more are begun, so that a
 * slow server cannot hold up a report (`debuginfod-find debuginfo FILE` fills the
 * cache for the next one).  One thread.
 */
#ifndef DWELL_SYM_DEBUG_SERVER_H
#define DWELL_SYM_DEBUG_SERVER_H

#include <stddef.h>
#include <stdint.h>

#define DEBUG_SERVER_SECONDS 10

enum debug_server_kind { DEBUG_SERVER_BINARY, DEBUG_SERVER_DEBUG };

/* Path of the local copy, to be freed, or NULL; then *ret_problem says why servers that
 * are configured did not help, and is left alone when none is. */
char *debug_server_find(enum debug_server_kind kind, const uint8_t *build_id, size_t size,
			const char **ret_problem);

#endif
