/* SPDX-License-Identifier: Apache-2.0
 *
 * process_history - which programs each pid has run, and which sources have told of it.
 *
 * Two sources that tell of the same process do so in the same order, each at times of its
 * own, and one may know of programs that the other does not.  Zero-initialise.
 */
#ifndef DWELL_COLLECT_PROCESS_HISTORY_H
#define DWELL_COLLECT_PROCESS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

enum process_history_origin {
	PROCESS_HISTORY_FORK,
	PROCESS_HISTORY_EXEC,
	PROCESS_HISTORY_FOUND, /* it ran already */
};

struct process_history_entry {
	uint32_t id;   /* in the recording */
	uint32_t name; /* its first, a string of the recording */
	enum process_history_origin origin;
	uint64_t start_ns;
	uint32_t tellers; /* bit i: source i has told of it */
	bool is_followed;
	uint32_t before; /* index plus 1 of the one before of this pid, 0: none */
};

struct process_history {
	struct map newest; /* pid → index plus 1 */
	VEC(struct process_history_entry) all;
};

void process_history_fini(struct process_history *h);
/* What follows is borrowed until the next one is added. */
struct process_history_entry *
process_history_add(struct process_history *h, uint32_t pid,
		    const struct process_history_entry *entry);
/* What a source tells now, if others have told of it and it has not; NULL: it is new.
 * name is not looked at after a fork. */
struct process_history_entry *process_history_claim(struct process_history *h,
						    uint32_t pid, unsigned teller,
						    enum process_history_origin origin,
						    uint32_t name, uint64_t time_ns);
/* What ran then, by whoever told of it, and had that name; NULL: nobody has told. */
struct process_history_entry *process_history_then(const struct process_history *h,
						   uint32_t pid, uint32_t name,
						   uint64_t time_ns);
/* The last that this source told of; NULL: none. */
struct process_history_entry *process_history_told(const struct process_history *h,
						   uint32_t pid, unsigned teller);

#endif
