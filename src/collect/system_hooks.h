/* SPDX-License-Identifier: Apache-2.0
 *
 * system_hooks - attachments of BPF programs that stay when this process is killed.
 *
 * The next one goes on with the same, so that between the two nothing is missed and
 * nothing is seen twice.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_HOOKS_H
#define DWELL_COLLECT_SYSTEM_HOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "collect/system_pins.h"

struct bpf_link;
struct bpf_program;

/* Under that name; where the link is, NULL: it is not attached. */
struct system_hook {
	char name[32];
	struct bpf_program *program;
	struct bpf_link **link;
};

/* All that are pinned under these names, or none. */
bool system_hooks_take(const struct system_pins *pins, const struct system_hook *hooks,
		       size_t n);
/* In their order, those that were loaded. */
must_use int system_hooks_attach(const struct system_hook *hooks, size_t n,
				 struct err *e);
/* They stay as they are. */
void system_hooks_let_go(const struct system_hook *hooks, size_t n);
/* Those programs run already: they are not to be loaded. */
void system_hooks_leave_out(const struct system_hook *hooks, size_t n);
/* All that are attached. */
must_use int system_hooks_keep(const struct system_pins *pins,
			       const struct system_hook *hooks, size_t n, struct err *e);
/* The last first; pins: or NULL.  None of their programs begins to run any more. */
void system_hooks_end(const struct system_pins *pins, const struct system_hook *hooks,
		      size_t n);

#endif
