/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_files - the open perf events of a recording and the rings they write to.
 *
 * One ring per CPU: the first event on a CPU owns it, the others redirect to it.
 */
#ifndef DWELL_COLLECT_PERF_FILES_H
#define DWELL_COLLECT_PERF_FILES_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/map.h"
#include "base/own.h"
#include "base/vec.h"
#include "collect/perf_deep.h"
#include "collect/perf_merge.h"
#include "collect/perf_ring.h"
#include "collect/perf_stream.h"
#include "host/cpus.h"

struct perf_file {
	int fd; /* -1: it ended with its CPU, and was closed */
	uint32_t stream, cpu;
	bool is_of_cpu; /* not of a thread */
};

struct perf_cpu {
	uint32_t id;
	int fd;	     /* owns the ring, -1: none yet */
	int deep_fd; /* what perf_deep writes to, -1: none */
	bool is_hung_up;
	bool is_shallow; /* perf_deep could not be had: perf copies all that it can */
	struct perf_ring ring;
};

struct perf_files {
	VEC(struct perf_stream) streams; /* [0] carries the side band */
	VEC(struct perf_file) files;
	VEC(struct perf_cpu) cpus;
	struct map ids; /* event id → index of the stream */
	struct perf_merge merge;
	size_t ring_bytes;
	struct perf_deep *deep; /* NULL: stacks are as deep as perf copies; owned */
};

/* The rings that this user may have for so many CPUs.  has_bursts: samples come faster
 * than they are unwound, for a while. */
size_t perf_files_ring_bytes(size_t n_cpus, bool has_bursts);
void perf_files_init(struct perf_files *f, const struct cpus *cpus, size_t ring_bytes);
void perf_files_fini(struct perf_files *f);

/* Every stream on every CPU for a thread (-1: all threads).  A CPU that went offline is
 * skipped; a thread that is gone gives ERR_OS with ESRCH.  Stacks beyond what perf copies
 * are not worth a recording: a CPU that cannot have them does without. */
must_use int perf_files_open(struct perf_files *f, pid_t tid, struct err *e);
/* The streams that are PERF_STREAM_GRID, which perf_files_open() leaves out. */
must_use int perf_files_open_grid(struct perf_files *f, struct err *e);
/* A CPU came online: what is opened for whole CPUs ended when it went, if it was there
 * before, and is closed.  is_machine: so was everything.  On failure nothing is open that
 * was not, and it may be tried again. */
must_use int perf_files_reopen(struct perf_files *f, uint32_t cpu, bool is_machine,
			       struct err *e);
/* NULL: not one of ours. */
struct perf_stream *perf_files_stream(struct perf_files *f, uint64_t id);
/* Begin or end sampling; the side band goes on. */
void perf_files_enable(struct perf_files *f, bool is_enabled);
void perf_files_disable_all(struct perf_files *f);
/* Sum of what the events of a stream have counted, children included. */
uint64_t perf_files_count(const struct perf_files *f, uint32_t stream);

size_t perf_files_poll(const struct perf_files *f, struct pollfd *fds, size_t max);
/* Rings whose owner ended would wake poll() for ever. */
void perf_files_check_hang_ups(struct perf_files *f);
/* CPUs whose stacks end where perf's copy does, though others' do not. */
size_t perf_files_n_shallow(const struct perf_files *f);
/* Is some ring filled beyond half? */
bool perf_files_is_pressed(struct perf_files *f);

#endif
