/* SPDX-License-Identifier: Apache-2.0
 *
 * summing - a recorder (collect/recorder.h) of what BPF programs sum that follow threads.
 *
 * What those of the states and those of the probes have in common: answering what the
 * rings tell, the rows that stacks are walked by, the numbers of files, and drains into
 * one recording after the other.  The programs themselves are a kind.  One thread.
 */
#ifndef DWELL_COLLECT_SUMMING_H
#define DWELL_COLLECT_SUMMING_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/recorder.h"
#include "collect/system_counts.h"
#include "collect/system_programs.h"
#include "host/cpus.h"

/* Whether the kernel takes such programs, which is tried once: it takes a while.  So what
 * was loaded for that is gone on with, where the recording wants just that. */
struct summing_trial {
	bool is_known;
	void *programs;	  /* or NULL */
	struct cpus cpus; /* theirs */
};

struct summing_kind {
	struct summing_trial *trial;
	/* Loaded, not started; x->plans are those of the kind. */
	int (*load)(const struct recorder_settings *x,
		    const struct system_threads_sink *sink, void **ret, struct err *e);
	/* Only whether the kernel takes such ones. */
	int (*try)(const struct cpus *cpus, const struct system_threads_sink *sink,
		   struct err *e);
	/* These, which were loaded to try, are for x from now on; false: they are not
	 * what it wants.  NULL: they never are. */
	bool (*go_on)(void *programs, const struct recorder_settings *x);
	const struct system_programs *(*loaded)(const void *programs);
	/* Which events of the recording the sums are: ids, what is behind them. */
	void (*events)(void *programs, const struct plan *plans,
		       struct system_counts_events *ret);
	int (*start)(void *programs, struct err *e);
	/* Ten times a second, and at each drain; NULL: there is nothing to do. */
	void (*jitter)(void *programs);
	void (*follow_cpus)(void *programs, uint64_t now_ns);
	void (*stop)(void *programs);
	/* A file of I/O is met, or NULL. */
	void (*file)(void *programs, const struct io_record_file *r);
	/* Facts of a recording that ends, or NULL. */
	void (*note)(void *programs, struct writer *w);
	/* Of what was counted, in words of its own. */
	void (*status)(const void *programs, const struct system_counts_stats *counts,
		       struct recorder_status *ret);
	void (*free)(void *programs);
};

/* For source_ops.probe(): can these threads be followed, and will the kernel let us? */
must_use int summing_probe(const struct summing_kind *kind, const struct scope *scope,
			   struct err *e);
/* What sets this process' recording apart: programs that are loaded to try know it. */
uint64_t summing_cookie(void);

/* Of settings, for programs. */
struct system_threads_whom summing_whom(const struct recorder_settings *x);
/* Every event is kept: only where it is known whose each is. */
bool summing_tells_each(const struct recorder_settings *x);
/* Wherever they run. */
bool summing_is_same_whom(const struct system_threads_whom *a,
			  const struct system_threads_whom *b);

must_use int summing_open(const struct recorder_ops *ops, const struct summing_kind *kind,
			  const struct recorder_settings *x, struct recorder **ret,
			  struct err *e);

/* The operations of a recorder. */
must_use int summing_follow(struct recorder *r, pid_t pid, bool awaits_exec,
			    struct err *e);
void summing_begin(struct recorder *r, struct writer *w, const struct plan *plans);
void summing_keep(struct recorder *r, uint64_t recording, bool is_behind);
bool summing_left(const struct recorder *r, struct recorder_left *ret);
must_use int summing_start(struct recorder *r, struct err *e);
size_t summing_fds(const struct recorder *r, struct pollfd *fds, size_t max);
void summing_work(struct recorder *r, uint64_t now_ns);
void summing_drain(struct recorder *r, uint64_t now_ns);
void summing_pause(struct recorder *r, bool is_paused);
void summing_stop(struct recorder *r);
must_use int summing_end(struct recorder *r, uint64_t now_ns, bool has_symbols,
			 struct err *e);
void summing_status(const struct recorder *r, struct recorder_status *ret);
void summing_free(struct recorder *r);

/* In a struct recorder_ops: what is the same whatever is summed. */
#define SUMMING_RECORDER_OPS                                                             \
	.follow = summing_follow, .begin = summing_begin, .start = summing_start,        \
	.fds = summing_fds, .work = summing_work, .drain = summing_drain,                \
	.pause = summing_pause, .stop = summing_stop, .end = summing_end,                \
	.status = summing_status, .free = summing_free

#endif
