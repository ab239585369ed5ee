/* SPDX-License-Identifier: Apache-2.0
 *
 * cgroup_names - paths of cgroups by their ids, which need no process that is in them.
 *
 * Of the unified hierarchy.  An id is never used again, so that what was found once stays
 * true.
 */
#ifndef DWELL_HOST_CGROUP_NAMES_H
#define DWELL_HOST_CGROUP_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/own.h"

struct cgroup_names;

struct cgroup_names *cgroup_names_new(void);
void cgroup_names_free(struct cgroup_names *c);
void cgroup_names_freep(struct cgroup_names **c);

/* "/system.slice/x.service", good until the next call; NULL: it is gone, or nobody may
 * ask.  A process that was in it is asked where the kernel cannot be. */
const char *cgroup_names_find(struct cgroup_names *c, uint64_t id, pid_t pid);

/* Where a process is now; false: it has gone, or there is no such hierarchy. */
bool cgroup_names_of_process(pid_t pid, char *path, size_t cap);

#endif
