/* SPDX-License-Identifier: Apache-2.0
 *
 * control_lines - numbers and texts by name, as a recorder answers: a line "name=value"
 * for each.
 */
#ifndef DWELL_COLLECT_CONTROL_LINES_H
#define DWELL_COLLECT_CONTROL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

void control_lines_add(struct buf *b, const char *name, uint64_t value);
/* A text is a line: control characters in it become blanks. */
void control_lines_add_text(struct buf *b, const char *name, const char *value);

/* "" and 0 when the name is not there. */
void control_lines_text(const char *lines, const char *name, char *value, size_t cap);
uint64_t control_lines_number(const char *lines, const char *name);
/* Is it there, with a value? */
bool control_lines_has(const char *lines, const char *name);

#endif
