/* SPDX-License-Identifier: Apache-2.0
 *
 * system_pins - what the kernel keeps when this process is killed: a directory of its BPF
 * file system, with maps and links by name.
 *
 * It stays until it is cleared, or until the machine is started again.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_PINS_H
#define DWELL_COLLECT_SYSTEM_PINS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/own.h"

/* All of them are in it. */
#define SYSTEM_PINS_ROOT "/sys/fs/bpf/dwell"
/* How the names of links begin. */
#define SYSTEM_PINS_LINK "link"
/* And those of programs at tracepoints and in code, which nobody takes turns at. */
#define SYSTEM_PINS_HOOK "hook"

struct system_pins;

/* The directory of that name, made where it is not there.  ERR_UNSUPPORTED and why when
 * there is no such file system, or others may write there. */
must_use int system_pins_open(const char *name, struct system_pins **ret, struct err *e);
/* What is pinned stays. */
void system_pins_free(struct system_pins *p);
void system_pins_freep(struct system_pins **p);

const char *system_pins_path(const struct system_pins *p);
/* A descriptor, or -1. */
int system_pins_get(const struct system_pins *p, const char *what);
must_use int system_pins_put(const struct system_pins *p, int fd, const char *what,
			     struct err *e);
void system_pins_remove(const struct system_pins *p, const char *what);
/* What begins like `like`, but for what begins like `but`. */
void system_pins_remove_others(const struct system_pins *p, const char *like,
			       const char *but);
/* All of them, and the directory. */
void system_pins_clear(const struct system_pins *p);

/* Are there any of that name? */
bool system_pins_are_there(const char *name);
/* Each directory of that name, or of one that has more behind a dash: what one daemon
 * left. */
void system_pins_each(const char *name, void (*found)(void *ctx, const char *full),
		      void *ctx);
/* All of these; false: there were none. */
bool system_pins_forget(const char *name);

#endif
