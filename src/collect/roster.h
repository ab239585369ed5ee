/* SPDX-License-Identifier: Apache-2.0
 *
 * roster - the processes and threads that are known, alive and lately dead.
 *
 * Each has its id in the recording, written when it is added.  An id of the system that
 * is used again replaces its old owner.  Zero-initialise with a writer, release with
 * roster_fini(); pointers live until the thread or process is replaced or long dead.
 */
#ifndef DWELL_COLLECT_ROSTER_H
#define DWELL_COLLECT_ROSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "collect/stack_path.h"
#include "store/writer.h"

struct address_space;

struct roster_process {
	uint32_t pid, id;
	struct address_space *space;
	struct roster_thread *threads; /* linked by .next */
	unsigned n_alive;
	bool has_exe, is_followed;
	uint32_t code_image; /* JIT or anonymous code, MODEL_NONE not needed yet */
	bool code_is_jit;
	bool has_nothing_mapped; /* any more, as it was when that was asked */
	uint64_t jit_retry_ns;
};

struct roster_thread {
	uint32_t tid, id;
	bool has_exited;
	uint64_t exit_ns;
	struct roster_process *process;
	struct roster_thread *next; /* of the process */
	struct stack_path path;
};

struct roster {
	struct writer *writer;
	struct map processes, threads; /* pid, tid → pointer */
	VEC(uint32_t) dead;	       /* thread ids, oldest first */
	struct map ids; /* process' id and tid → the thread's id, for ever */
};

void roster_fini(struct roster *r);

/* NULL when unknown. */
struct roster_process *roster_find_process(const struct roster *r, uint32_t pid);
struct roster_thread *roster_find_thread(const struct roster *r, uint32_t tid);

/* A process with nothing mapped yet; space is taken over. */
struct roster_process *roster_add_process(struct roster *r, uint32_t pid,
					  struct address_space *space,
					  const struct model_process *model);
struct roster_thread *roster_add_thread(struct roster *r, uint64_t time_ns,
					struct roster_process *p, uint32_t tid,
					uint32_t name);
/* Id in the recording of a thread of a process, an id of the recording, that may be gone;
 * it is made where it was never told of. */
uint32_t roster_past_thread(struct roster *r, uint64_t time_ns, uint32_t process,
			    uint32_t tid);
/* The thread has exited. */
void roster_bury(struct roster *r, struct roster_thread *th, uint64_t time_ns);

#endif
