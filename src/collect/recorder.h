/* SPDX-License-Identifier: Apache-2.0
 *
 * recorder - whole CPUs profiled into one recording after the other, by whoever can.
 *
 * A recording is begun, work is done now and then, and its end puts into it all that was
 * taken; samples go on meanwhile, so between an end and the next begin nothing is missed.
 * Each way to do it is one const struct, plug-ins that have no header.  One thread.
 */
#ifndef DWELL_COLLECT_RECORDER_H
#define DWELL_COLLECT_RECORDER_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/apart.h"
#include "collect/source.h"
#include "collect/system_event.h"
#include "collect/system_late.h"
#include "collect/trigger.h"
#include "host/cpus.h"
#include "store/writer.h"
#include "unwind/stop.h"
#include "wire/stack_record.h"

struct recorder_ops;
struct symbol_store;
struct system_classes;
struct system_keeping_kind;

struct recorder {
	const struct recorder_ops *ops;
};

/* All borrowed, and alive until free(). */
struct recorder_settings {
	const struct cpus *cpus;
	const struct plan *plans; /* each with one event, but those of states */
	size_t n_plans;
	uint32_t n_at_once; /* no more events are on; 0: as many as can be */
	bool is_fixed;	    /* every period is the same */
	bool is_flat;	    /* innermost frames only */
	bool is_timed;	    /* what samples take is measured */
	struct apart apart;
	uint32_t depth;	   /* frames of user code; 0: as many as there may be */
	uint64_t drain_ns; /* how often the kernel's counts are fetched; 0: by default */
	/* What was taken is not lost when this process is killed: what was fetched from
	 * the kernel is in the file at once, and where it can be the kernel goes on,
	 * until the next one of that name takes over.  NULL: not. */
	const char *keep;
	bool has_pins;		      /* the kernel may go on */
	struct symbol_store *symbols; /* of what is met are kept there; NULL: not */
	/* Of what follows threads: which; NULL: every thread of the machine. */
	const struct scope *scope;
	/* Who there is in the one recording that there will be; NULL: it is its own to
	 * say. */
	struct system_classes *classes;
	uint64_t cookie; /* by which programs tell what they tell themselves; 0: none */
};

/* What is known only of samples that the kernel counts. */
struct recorder_counted {
	struct stack_record_stats kernel;
	struct system_late late;
	uint64_t of_events[SYSTEM_EVENTS_MAX]; /* of what was stored, by plan */
	size_t n_images;		       /* with rows */
	uint32_t n_gone, n_unnumbered;
	uint64_t n_again; /* images whose number had been another's */
};

/* What is in a recording for sure. */
struct recorder_place {
	uint64_t recording; /* as keep() was told; the last one, 0: none */
	uint64_t bytes;	    /* of that: what is behind them is taken again, or lost */
};

/* What a recorder that was killed left, and the next one goes on with. */
struct recorder_left {
	uint64_t since_ns; /* of what is taken again; of the clock that goes on while
			    * suspended */
	uint64_t gap_ns;   /* nobody was there */
	uint64_t samples;  /* taken in it */
	uint64_t lost;
	bool has_ended; /* the kernel stopped by itself, on a CPU at least */
	bool is_summed; /* states, calls or triggers went on */
};

/* Sums since the start. */
struct recorder_status {
	uint64_t samples; /* taken */
	uint64_t stored;  /* put into recordings */
	uint64_t lost;
	uint64_t n_states; /* that ended, where those of threads are recorded */
	bool has_calls;	   /* system calls are recorded: */
	uint64_t n_calls;  /* that returned; of I/O where only that is */
	uint64_t n_waits;  /* of threads for each other, that are over */
	/* Places of the user's choice, and how often each was met. */
	const struct trigger *triggers[TRIGGER_MAX];
	uint64_t n_met[TRIGGER_MAX];
	size_t n_triggers;
	uint64_t stops[UNWIND_N_STOPS];
	uint64_t longest_gap_ns; /* in which nobody emptied the rings */
	size_t kernel_bytes;	 /* memory there */
	/* Why a killed one would lose something, or NULL, and what could not be gone on
	 * with, or "". */
	const char *unkept, *removed;
	bool is_counted; /* in the kernel: the rest is known */
	struct recorder_counted counted;
};

struct recorder_ops {
	const struct source_ops *source; /* that does the same for a session */
	uint64_t hz;	    /* samples a second that cost little, by default */
	bool has_registers; /* its samples tell which way branches go */
	/* What it keeps in the kernel, or NULL: it cannot. */
	const struct system_keeping_kind *kept;
	int (*open)(const struct recorder_settings *s, struct recorder **ret,
		    struct err *e);
	/* Before start(): this process is in the scope; from its next exec on when
	 * awaits_exec.  NULL: whole CPUs are profiled. */
	int (*follow)(struct recorder *r, pid_t pid, bool awaits_exec, struct err *e);
	/* Into this recording, as the events of the plans, which are the settings' in
	 * their order, from now on; both are borrowed until the end. */
	void (*begin)(struct recorder *r, struct writer *w, const struct plan *plans);
	/* The recording that was begun is called so, and earlier ones are not written in
	 * whole; and what a killed one left, false: nothing.  Both NULL where nothing is
	 * kept but the recording. */
	void (*keep)(struct recorder *r, uint64_t recording, bool is_behind);
	bool (*left)(const struct recorder *r, struct recorder_left *ret);
	/* After the first begin(). */
	int (*start)(struct recorder *r, struct err *e);
	/* Descriptors to poll for reading; at most max, returns how many. */
	size_t (*fds)(const struct recorder *r, struct pollfd *fds, size_t max);
	void (*work)(struct recorder *r, uint64_t now_ns);
	/* What was taken until now is in the recording at once. */
	void (*drain)(struct recorder *r, uint64_t now_ns);
	/* Samples are taken, or not; the rest goes on. */
	void (*pause)(struct recorder *r, bool is_paused);
	void (*stop)(struct recorder *r);
	/* All that was taken is in the recording then, with its rates and losses as facts
	 * and what its names need; but for the kernel's symbols, if they are seen to
	 * elsewhere. */
	int (*end)(struct recorder *r, uint64_t now_ns, bool has_symbols, struct err *e);
	void (*status)(const struct recorder *r, struct recorder_status *ret);
	void (*free)(struct recorder *r);
};

/* One for each CPU at most. */
#define RECORDER_FDS_MAX 1024

extern const struct recorder_ops system_recorder, perf_recorder, probes_recorder,
	states_recorder, io_recorder, futex_recorder;
/* The recorders of the plans' sources, beside each other. */
extern const struct recorder_ops joint_recorder;

/* Of a plan's source; NULL: it is in no recorder. */
const struct recorder_ops *recorder_of(const struct source_ops *source);
/* Those that keep something in the kernel. */
size_t recorder_n_kept(void);
const struct recorder_ops *recorder_kept(size_t i);
/* Of an experiment that has one of its own, beside what samples; NULL: it is sampled. */
const struct recorder_ops *recorder_beside(const struct experiment *x);
/* The best that can feed all of the plans here that are sampled; *ret_why says why the
 * ones before it cannot.  NULL: none can, and *e says why. */
const struct recorder_ops *recorder_choose(const struct plan *plans, size_t n,
					   struct err *ret_why, struct err *e);
void recorder_free(struct recorder *r);
void recorder_freep(struct recorder **r);

#endif
