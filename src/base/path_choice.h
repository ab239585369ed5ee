/* SPDX-License-Identifier: Apache-2.0
 *
 * path_choice - files chosen by their names or paths, with patterns.
 *
 * "gcc", "python*" are of a name, in whatever directory; "/usr/lib/gcc/" followed by a
 * star is of a path, where a star stands for slashes as well.  One list of them is
 * "gcc,python*".
 */
#ifndef DWELL_BASE_PATH_CHOICE_H
#define DWELL_BASE_PATH_CHOICE_H

#include <stdbool.h>

#include "base/err.h"
#include "base/own.h"

struct path_choice;

struct path_choice *path_choice_new(void);
void path_choice_free(struct path_choice *c);
void path_choice_freep(struct path_choice **c);

/* Those of a list; ERR_USAGE: one of them is empty. */
must_use int path_choice_add(struct path_choice *c, const char *list, struct err *e);
/* NULL is no file. */
bool path_choice_has(const struct path_choice *c, const char *path);
/* As one list; borrowed until the next is added. */
const char *path_choice_text(const struct path_choice *c);

#endif
