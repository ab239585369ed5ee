/* SPDX-License-Identifier: Apache-2.0
 *
 * system_threads - BPF programs that follow threads and sum what they do.
 *
 * What those of the states and those of the probes have in common: who is followed, going
 * through all threads, turns of the sums, and fetching what was told and summed.  One
 * thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_THREADS_H
#define DWELL_COLLECT_SYSTEM_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/apart.h"
#include "collect/system_rings.h"
#include "collect/system_sums.h"
#include "host/cpus.h"

struct bpf_program;
struct path_choice;
struct system_keeping;
struct system_keeping_kind;
struct system_threads;

/* Of a skeleton that is loaded, and is so for longer; in the kernel's terms. */
struct system_threads_parts {
	const struct cpus *cpus;
	struct bpf_program *begin, *cut, *foresee; /* for each thread */
	struct state_record_foreseen *foreseen;
	int rings_map, stats_map, processes_map;
	struct system_sums_maps sums;
	uint64_t *from_ns; /* nothing is summed that was before; 0: nothing at all */
	/* Set when all threads are gone through: nothing is summed behind it; and what
	 * goes on has ended, for it is not to be met again.  Or NULL. */
	bool *is_last_cut, *is_end;
	/* What outlives this process, or NULL; is_taken: another began it. */
	struct system_keeping *keeping;
	bool is_taken;
};

/* What a skeleton has of them. */
#define SYSTEM_THREADS_PARTS(k)                                                          \
	((struct system_threads_parts){                                                  \
		.begin = (k)->progs.begin,                                               \
		.cut = (k)->progs.cut,                                                   \
		.foresee = (k)->progs.foresee,                                           \
		.foreseen = (void *)&(k)->bss->foreseen,                                 \
		.rings_map = bpf_map__fd((k)->maps.rings),                               \
		.stats_map = bpf_map__fd((k)->maps.stats),                               \
		.processes_map = bpf_map__fd((k)->maps.processes),                       \
		.sums = { .sums = bpf_map__fd((k)->maps.sums),                           \
			  .numbers = bpf_map__fd((k)->maps.sum_numbers),                 \
			  .generation = &(k)->bss->sums_generation,                      \
			  .oldest = &(k)->bss->sums_oldest,                              \
			  .next = (k)->data->sums_next },                                \
		.from_ns = &(k)->bss->from_ns,                                           \
	})

/* Whose threads are followed, and how they are told apart. */
struct system_threads_whom {
	const struct cpus *cpus;
	bool is_everybody; /* all threads, not only those of processes that are told */
	bool follows_children; /* of these */
	struct apart apart;
	uint32_t depth; /* frames of user code; 0: as many as there may be */
};

/* What such programs are told of that before they are loaded. */
#define SYSTEM_THREADS_CONFIGURE(k, whom)                                                \
	do {                                                                             \
		(k)->rodata->page_shift = kernel_page_shift();                           \
		(k)->rodata->has_threads = (whom)->apart.threads;                        \
		(k)->rodata->has_processes = (whom)->apart.processes;                    \
		(k)->rodata->has_choice = (whom)->apart.chosen != NULL;                  \
		if ((whom)->depth)                                                       \
			(k)->rodata->depth = (whom)->depth;                              \
		(k)->rodata->is_everybody = (whom)->is_everybody;                        \
		(k)->rodata->is_following = (whom)->follows_children;                    \
		(k)->rodata->wake_bytes = SYSTEM_RINGS_BYTES / 2;                        \
		bpf_map__set_max_entries((k)->maps.rings, cpus_end((whom)->cpus));       \
		bpf_map__set_max_entries((k)->maps.stats, cpus_end((whom)->cpus));       \
		bpf_map__set_max_entries((k)->maps.apart_images,                         \
					 system_apart_n_entries((whom)->apart.chosen));  \
	} while (0)

/* What such programs pin, and the maps of that which are not theirs. */
enum { SYSTEM_THREADS_DELIVERED, SYSTEM_THREADS_TOLD };
extern const struct system_keeping_kind system_threads_states_kept,
	system_threads_probes_kept;

/* Of what is in their maps, and what it means. */
struct system_threads_layout {
	const void *programs, *constants;
	size_t programs_bytes, constants_bytes;
	const struct cpus *cpus;
	const struct path_choice *chosen;
};
uint64_t system_threads_layout(const struct system_threads_layout *l);

struct system_threads_sink {
	struct system_sink rings; /* its ctx is for both */
	void (*sum)(void *ctx, uint32_t number, const struct state_record_sum *more);
};

must_use int system_threads_new(const struct system_threads_parts *parts,
				const struct system_threads_sink *sink,
				struct system_threads **ret, struct err *e);
/* Whom what comes is told from now on: nobody was told anything yet. */
void system_threads_tell(struct system_threads *t,
			 const struct system_threads_sink *sink);
void system_threads_free(struct system_threads *t);

/* Follow this process; from its next exec on when awaits_exec. */
must_use int system_threads_follow(struct system_threads *t, pid_t pid, bool awaits_exec,
				   struct err *e);
/* Before any is attached: what is mapped at these addresses of a process is told as if
 * a stack had met it. */
must_use int system_threads_foresee(struct system_threads *t, pid_t pid,
				    const uint64_t *at, size_t n, struct err *e);
/* The programs are attached: where every thread is is learnt, and unless it is paused
 * all is summed from here on. */
must_use int system_threads_begin(struct system_threads *t, struct err *e);
bool system_threads_has_begun(const struct system_threads *t);
int system_threads_fd(const struct system_threads *t);
/* What the rings hold: images that were met, stacks. */
void system_threads_fetch(struct system_threads *t);
/* Is it time to drain, whatever the time? */
bool system_threads_is_filling(const struct system_threads *t);
/* And what came to the sums since the last drain, of what goes on if it is long ago;
 * is_whole: in any case. */
void system_threads_drain(struct system_threads *t, bool is_whole);
/* What was fetched and drained is in a recording, for good: what it says of that in the
 * ledger is there already. */
void system_threads_commit(struct system_threads *t);
/* The table of keys that nobody tells of any more, or negative; behind which turn.  They
 * are to be forgotten when that is in the ledger. */
int system_threads_closing(const struct system_threads *t, uint32_t *ret_generation);
void system_threads_close(struct system_threads *t);
void system_threads_pause(struct system_threads *t, bool is_paused);
/* The programs are detached: what goes on is charged until now. */
void system_threads_end(struct system_threads *t);

/* By CPU. */
const struct stack_record_stats *system_threads_cpu_stats(const struct system_threads *t);
void system_threads_stats(const struct system_threads *t, struct stack_record_stats *ret);
/* Memory of the maps and rings, without the rows. */
size_t system_threads_bytes(const struct system_threads *t);

#endif
