/* SPDX-License-Identifier: Apache-2.0
 *
 * newcomers - which processes may have begun since some moment.
 *
 * Ids are given one after the other: what has begun between two moments has one between
 * those that were the last then.  So there is no need to list all processes, of which
 * there may be thousands.
 */
#ifndef DWELL_HOST_NEWCOMERS_H
#define DWELL_HOST_NEWCOMERS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"

struct procfs_ids;

struct newcomers {
	pid_t last; /* id; 0: all processes are new */
	uint64_t ns;
};

/* Now. */
struct newcomers newcomers_mark(void);
/* Ids that have been given since, of threads as well; or those of all processes, where
 * these would be too many or ids may have begun again. */
must_use int newcomers_since(const struct newcomers *mark, struct procfs_ids *ret,
			     struct err *e);

#endif
