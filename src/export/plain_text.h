/* SPDX-License-Identifier: Apache-2.0
 *
 * plain_text - foreign names made fit for formats that people and terminals read.
 *
 * Control characters and bytes that are not UTF-8 become \xNN, so that a name can
 * neither begin a new line nor speak to a terminal.
 */
#ifndef DWELL_EXPORT_PLAIN_TEXT_H
#define DWELL_EXPORT_PLAIN_TEXT_H

#include <stdio.h>

#include "base/buf.h"

/* Appends s; every `reserved` character, one with a meaning in the format, becomes
 * `instead`.  reserved 0: none. */
void plain_text_add(struct buf *b, const char *s, char reserved, const char *instead);
/* The same to a stream. */
void plain_text_put(FILE *out, const char *s, char reserved, const char *instead);

#endif
