/* SPDX-License-Identifier: Apache-2.0
 *
 * tracker - who runs what where: turns raw observations into stored samples.
 *
 * Sources (perf rings, the timer runtime in the target) report forks, execs, mappings and
 * samples in time order; the tracker keeps every process' address space, opens each image
 * once by build-id while the file is there, unwinds at once, interns the stack and
 * writes the sample.  So exited processes still have names.  One thread.
 */
#ifndef DWELL_COLLECT_TRACKER_H
#define DWELL_COLLECT_TRACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/branch_stack.h"
#include "store/writer.h"
#include "unwind/offline.h"

struct address_space;
struct roster_process;
struct roster_thread;
struct symbol_store;
struct tracker;

struct tracker *tracker_new(struct writer *w);
void tracker_free(struct tracker *t);
void tracker_freep(struct tracker **t);

/* Keep only samples of the first program and of those whose name or command line
 * matches the extended regular expression. */
must_use int tracker_follow_only(struct tracker *t, const char *regex, struct err *e);
/* Those that were asked for by themselves are there: who is found from now on is a
 * descendant. */
void tracker_expect_descendants(struct tracker *t);

/* Keep no sample of a process that is forked, whatever it runs. */
void tracker_leave_children(struct tracker *t);

/* What is told from now on comes of that source, less than 32: what another has told of
 * forks and execs is not told twice, though at another time. */
void tracker_set_teller(struct tracker *t, unsigned teller);

void tracker_fork(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid,
		  uint32_t parent_pid,
		  uint32_t parent_tid); /* pid == parent_pid: a thread */
void tracker_exec(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid,
		  const char *comm);
void tracker_comm(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid,
		  const char *comm);
void tracker_exit(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid);
void tracker_exit_status(struct tracker *t, uint32_t pid, int status);

struct tracker_mmap {
	uint64_t start, end, file_offset;
	const char *path;
	const uint8_t *build_id; /* or NULL: read from the file */
	size_t build_id_size;
	uint64_t inode;	 /* 0 unknown */
	uint64_t device; /* as stat(2) tells it, 0 unknown */
	bool is_exec;
};

void tracker_mmap(struct tracker *t, uint64_t time_ns, uint32_t pid,
		  const struct tracker_mmap *m);
/* Where code lies that is mapped so. */
struct tracker_code {
	uint32_t image; /* id in the recording */
	bool is_file;	/* offsets are the file's, else addresses */
	int fd;		/* borrowed, -1: the file cannot be had */
};

struct tracker_code tracker_code_of(struct tracker *t, uint64_t time_ns, uint32_t pid,
				    const struct tracker_mmap *m);
/* Id in the recording of the place in code that is mapped. */
uint32_t tracker_location(struct tracker *t, uint64_t time_ns, uint32_t pid, uint64_t pc);
/* Learn a process that already runs from /proc: its threads, names, mappings. */
must_use int tracker_snapshot(struct tracker *t, uint64_t time_ns, uint32_t pid,
			      struct err *e);

struct tracker_sample {
	uint64_t time_ns, weight;
	uint32_t event, pid, tid, cpu, count;
	const uint64_t *kernel_pcs; /* innermost first; [0] is exact */
	size_t n_kernel;
	/* The user part: to be unwound (regs set), or pcs as the target unwound them. */
	const struct unwind_regs *regs;
	uint64_t cpu_flags; /* with them; 0: not known */
	struct unwind_memory memory;
	const uint64_t *user_pcs;  /* innermost first */
	const uint8_t *user_exact; /* bit i: user_pcs[i] is no return address */
	bool is_call;		   /* user_pcs[0] is one unless its bit says else */
	size_t n_user;
	enum unwind_stop stop;	      /* of user_pcs */
	struct branch_stack branches; /* that led here; n 0: not known */
	/* What was copied of memory beside the stack, and whom to tell what else was
	 * needed of it; or NULLs. */
	bool (*read_near)(void *ctx, uint64_t addr, uint64_t *ret);
	void (*miss_near)(void *ctx, uint32_t pid, uint64_t addr);
	void *near_ctx;
	bool is_pc_only;
};

/* No more frames of user code than that. */
void tracker_limit_depth(struct tracker *t, uint32_t depth);
/* The symbols of files that are mapped from now on are kept there, which is borrowed. */
void tracker_keep_symbols(struct tracker *t, struct symbol_store *symbols);

/* Code in memory is a compiler's, also before its map is there. */
void tracker_expect_jit(struct tracker *t);

/* Also which way branches go after samples that carry registers. */
void tracker_want_directions(struct tracker *t);
/* What is known of them until now is in the recording. */
void tracker_write_directions(struct tracker *t);

/* Returns the stored stack id (0 when nothing was known). */
uint32_t tracker_sample(struct tracker *t, const struct tracker_sample *s);
/* The stack alone, for a weight that is known only later (blocked time). */
uint32_t tracker_stack(struct tracker *t, const struct tracker_sample *s);
/* A sample with such a stack: of s only time, weight, event, count and whose it is. */
void tracker_add(struct tracker *t, const struct tracker_sample *s, uint32_t stack);

/* A sample that may turn out not to be wanted: its stack is built now, while the mappings
 * are right. */
struct tracker_draft {
	struct model_sample sample;
	unsigned stop; /* enum unwind_stop, UNWIND_N_STOPS: nothing was walked */
};

/* Of a thread that was told of before, at most is about to be gone, and whose process is
 * followed.  Does not look into /proc. */
bool tracker_is_followed(const struct tracker *t, uint64_t time_ns, uint32_t pid,
			 uint32_t tid);
/* Whether anybody has told of a process that runs, and nobody of its end; if so, whether
 * it is followed. */
bool tracker_knows(const struct tracker *t, uint32_t pid, bool *ret_is_followed);
void tracker_draft(struct tracker *t, const struct tracker_sample *s,
		   struct tracker_draft *ret);
void tracker_write(struct tracker *t, const struct tracker_draft *d);

/* Thread id in the recording, made when new. */
uint32_t tracker_thread(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid);

/* For who tells late (late_image): what the source that tells now has told of last as
 * this pid, in the recording. */
struct tracker_process {
	uint32_t id;
	bool is_followed;
	struct address_space *space; /* borrowed; NULL: its pid runs something else */
};

struct tracker_process tracker_process_told(struct tracker *t, uint64_t time_ns,
					    uint32_t pid);
/* Id in the recording of a thread of a process, an id, whose pid runs something else. */
uint32_t tracker_past_thread(struct tracker *t, uint64_t time_ns, uint32_t process,
			     uint32_t tid);
/* Id in the recording of what was a thread then of what pid ran then under that name, if
 * anybody has told of it. */
bool tracker_thread_then(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid,
			 const char *comm, uint32_t *ret);
/* Where that lies in a process, an id; told as by tracker_mmap() where it runs still and
 * that is not known. */
struct unwind_map tracker_late_mmap(struct tracker *t, uint64_t time_ns, uint32_t pid,
				    uint32_t process, const struct tracker_mmap *m);
/* The id in the recording of what was mapped so; MODEL_NONE: no file. */
uint32_t tracker_image_id(const struct tracker *t, const struct unwind_map *m);
/* The stack of a thread that need not be the tracker's. */
uint32_t tracker_stack_of(struct tracker *t, struct roster_thread *th,
			  const struct tracker_sample *s);
/* A process is about to end: the map of what a compiler made may be there now. */
void tracker_find_jit_map(struct tracker *t, const struct roster_process *p);

/* How many stacks ended for each reason; index enum unwind_stop. */
const uint64_t *tracker_stops(const struct tracker *t);
/* Id in the recording of the program that the process runs now, MODEL_NONE unknown. */
uint32_t tracker_process_id(const struct tracker *t, uint32_t pid);

/* Why an image that was mapped does not tell the names of its compiled code although it
 * was asked to; NULL when all do. */
const char *tracker_jit_refusal(const struct tracker *t);
/* How many followed processes still run; *ret_pid is one of them. */
unsigned tracker_running(const struct tracker *t, uint32_t *ret_pid);

/* Calls for each that is followed, and whose end nobody has told; id: in the recording,
 * of the program that it runs now. */
typedef void tracker_running_fn(void *ctx, uint32_t pid, uint32_t id);
void tracker_each_running(const struct tracker *t, tracker_running_fn *fn, void *ctx);

/* The recording ends: keep the maps of JIT compilers, and the kernel's symbols unless
 * somebody else sees to these. */
must_use int tracker_finish(struct tracker *t, bool has_symbols, struct err *e);

#endif
