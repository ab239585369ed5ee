/* SPDX-License-Identifier: Apache-2.0
 *
 * source - who makes the observations: perf_event, or timers inside the target.
 *
 * The session asks the sources in order which can feed an experiment here, opens each
 * once with the plans it feeds, and polls and drains it; a source hands what it sees to
 * the tracker in time order.  One thread.
 */
#ifndef DWELL_COLLECT_SOURCE_H
#define DWELL_COLLECT_SOURCE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/apart.h"
#include "collect/experiment.h"
#include "collect/tracker.h"
#include "store/writer.h"
#include "unwind/stop.h"

enum scope_kind {
	SCOPE_LAUNCH,	 /* a program that we start */
	SCOPE_PROCESSES, /* running ones: pids, all their threads */
	SCOPE_THREADS,	 /* single threads: pids are thread ids */
	SCOPE_CPUS,	 /* everything that runs on some CPUs */
};

/* A function in a file. */
struct code_place {
	uint64_t device, inode, offset, size;
};

/* What is observed. */
struct scope {
	enum scope_kind kind;
	const pid_t *pids;
	size_t n_pids;
	const uint32_t *cpus; /* of SCOPE_CPUS */
	size_t n_cpus;
	bool follow_children; /* descendants too; threads always are */
	bool may_pause;	      /* pause() will be called */
	uid_t uid;	      /* as whom that runs */
	gid_t gid;
	const char *program; /* SCOPE_LAUNCH: the file that will be run, NULL unknown */
	const char *preload; /* and what is loaded into it, as LD_PRELOAD has it, or NULL
			      */
	/* SCOPE_CPUS: no more is told apart, where that is less work; NULL: processes and
	 * threads are. */
	const struct apart *apart;
	/* Functions, what is executed under which is to be told apart. */
	const struct code_place *under;
	size_t n_under;
	/* While sources are asked: what is wanted of them; NULL: not known. */
	const struct plan *wanted;
};

/* The threshold of waits is what a call that need not wait makes of it. */
#define SOURCE_THRESHOLD_MEASURED UINT64_MAX

/* An experiment that will be fed: what the user asked for, made definite. */
struct plan {
	struct experiment_choice choice;
	bool trace;		    /* every event with its fields, besides the stacks */
	bool insn;		    /* with registers, also where there are no stacks */
	bool is_flat;		    /* of io: without stacks */
	uint64_t wait_threshold_ns; /* of sync */
	uint64_t callstack_ns; /* regions: what is active is kept so often, 0 never */
	uint64_t sample_bytes; /* of memory, for each block observed; 0: every block */
	const struct source_ops *source;
	const struct source_ops *beside;	/* that feeds it, too; or NULL */
	uint32_t events[EXPERIMENT_EVENTS_MAX]; /* ids in the recording */
};

/* Changes to the environment of the launched program (collect/launch.h). */
struct gauges;
struct launch_env;
struct system_classes;

struct source {
	const struct source_ops *ops;
	/* What the program does now is not its own doing: other sources pause. */
	bool wants_alone;
	bool rests; /* as it was told last, by session_pause */
};

/* What source_ops.open() gets; all borrowed, and alive until free(). */
struct source_context {
	struct gauges *const *gauges; /* whose intervals programs may end; NULL: none */
	const struct scope *scope;
	const struct plan *plans;
	size_t n_plans; /* a source feeds those whose .source is its own */
	struct tracker *tracker;
	struct system_classes *classes; /* who sums are of; begun */
	struct writer *writer;
	uint64_t cookie; /* of this recorder: no other on this machine has it */
};

/* What was delivered, for the closing lines; the same is stored as facts. */
struct source_stats {
	uint64_t samples, lost, throttled;
	uint64_t events; /* of samples: each of what happened; the session's */
	uint64_t cpu_ns; /* CPU time that the samples of all plans' first
			  * CPU-time column stand for */
	uint64_t user_ns, system_ns; /* its parts */
	bool is_user_only;	     /* the kernel's part could not be observed */
	uint64_t counted_cpu_ns;     /* exact CPU time of what was observed, 0 unknown */
	uint64_t stops[UNWIND_N_STOPS]; /* of stacks that the tracker has not walked */
	struct err trouble; /* what is not as it was before; .code 0: nothing */
};

/* Who tells first of what runs. */
enum source_turn {
	SOURCE_OBSERVES, /* the kernel told it when it happened, or it is looked up */
	SOURCE_IS_TOLD,	 /* by the programs, a moment later */
	SOURCE_SUMS,	 /* in the kernel, and asks who it was */
	SOURCE_N_TURNS,
};

struct source_ops {
	const char *name; /* "perf", "timer" */
	/* Opened and drained behind those of smaller numbers, which tell of processes and
	 * threads before this one may. */
	enum source_turn turn_at;
	const char *summary; /* "kernel perf_event sampling" */
	bool sums;	     /* what it tells was not at its time, but up to then */
	/* To start it may take seconds, in which nobody drains others: it comes before
	 * them, and observes nothing before it is drained first. */
	bool starts_first;
	const char *instead; /* the source that does the same when the kernel refuses this
			      * one, or NULL */
	/* 0 when this source can feed x on this scope here and now; else *e says why not
	 * and what to do about it, in one line.  ERR_OS: the kernel refuses it. */
	int (*probe)(const struct experiment *x, const struct scope *scope,
		     struct err *e);
	/* Smallest interval it can deliver and the grid it is rounded to (0: none), in
	 * x->unit. */
	void (*range)(const struct experiment *x, uint64_t *ret_min,
		      uint64_t *ret_resolution);
	/* How column i of x is collected: "perf cpu-clock"; stored with the event. */
	const char *(*how)(const struct experiment *x, unsigned i);
	int (*open)(const struct source_context *c, struct source **ret, struct err *e);
	/* Before a launch: what the program's environment must say.  NULL: nothing. */
	int (*prepare)(struct source *s, struct launch_env *env, struct err *e);
	/* At a launch: *words, what will be executed, become others, which are borrowed.
	 * ERR_OS: the program cannot be run.  NULL: they stay. */
	int (*reword)(struct source *s, const struct launch_env *env, char *const **words,
		      struct err *e);
	/* Launched: pid waits before its exec, observe from the exec on.  Otherwise
	 * (pid 0) observe the scope from now on. */
	int (*start)(struct source *s, pid_t pid, struct err *e);
	/* Descriptors to poll for reading; at most max, returns how many. */
	size_t (*fds)(const struct source *s, struct pollfd *fds, size_t max);
	/* Hand over what has arrived; everything when is_final. */
	int (*drain)(struct source *s, bool is_final, struct err *e);
	/* Also what the source would still have kept together; NULL: it keeps nothing. */
	void (*sync)(struct source *s);
	/* What was delivered so far; NULL: not known before the end. */
	void (*stats)(const struct source *s, struct source_stats *ret);
	void (*pause)(struct source *s, bool is_paused);
	/* Keep what is active now, of regions.  NULL: it knows none. */
	void (*ask)(struct source *s);
	/* After finish(): what follows goes to this tracker and into its recording, in
	 * which the plans' events have the ids that the plans say now; sums begin anew.
	 * NULL: a source of one recording. */
	void (*turn)(struct source *s, struct tracker *tracker, struct writer *writer);
	/* Nothing is observed any more; drain(final) follows. */
	void (*stop)(struct source *s);
	/* After the last drain: store rates and losses as facts. */
	void (*finish)(struct source *s, struct source_stats *ret);
	void (*free)(struct source *s);
};

/* In order of preference; NULL-terminated. */
extern const struct source_ops *const sources[];

static inline bool source_feeds(const struct source_ops *source, const struct plan *p)
{
	return p->source == source || p->beside == source;
}

/* The first source that can feed x, or NULL with every source's reason in *e. */
const struct source_ops *source_choose(const struct experiment *x,
				       const struct scope *scope, struct err *e);
const struct source_ops *source_find(const char *name);
/* What x has beside that one, if it can feed it here; else NULL, and why. */
const struct source_ops *source_beside(const struct experiment *x,
				       const struct source_ops *source,
				       const struct scope *scope, struct err *e);
/* What is told apart by sources that have the choice. */
struct apart source_apart(const struct scope *scope);

#endif
