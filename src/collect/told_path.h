/* SPDX-License-Identifier: Apache-2.0
 *
 * told_path - a path as the kernel's side tells it (bpf/path.bpf.h), as text.
 */
#ifndef DWELL_COLLECT_TOLD_PATH_H
#define DWELL_COLLECT_TOLD_PATH_H

#include <stddef.h>

#include "wire/stack_record.h"

/* "c\0b\0a\0" is /a/b/c. */
void told_path_join(const struct stack_record_image *r, char *path, size_t cap);

#endif
