/* SPDX-License-Identifier: Apache-2.0
 *
 * continuous - the whole machine, always, into a database.
 *
 * What is counted goes into an open recording beside the epochs; every few minutes that
 * becomes a segment of the database.  A recording that a killed daemon left is taken over
 * at the next start, so that nothing is lost.  The caller waits on the descriptors and
 * calls continuous_work().  One thread.
 */
#ifndef DWELL_COLLECT_CONTINUOUS_H
#define DWELL_COLLECT_CONTINUOUS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/apart.h"
#include "collect/experiment.h"
#include "collect/recorder.h"
#include "collect/segment_job.h"
#include "collect/trouble.h"
#include "store/database_writer.h"

struct continuous;

struct continuous_settings {
	const char *database, *host; /* host NULL: this one's name */
	const char *label;	     /* of an epoch that is begun, or NULL */
	/* What is recorded, as event_choice_parse() gives it; 0: CPU time. */
	struct experiment_choice events[SYSTEM_EVENTS_MAX];
	size_t n_events;
	uint64_t period_ns; /* of CPU time; 0: what costs little */
	uint32_t n_at_once; /* no more events are on; 0: as many as can be */
	bool is_fixed;	    /* every period is the same */
	bool is_flat;	    /* no stacks */
	bool insn;	    /* which way branches go, from the registers of samples */
	uint32_t depth;	    /* frames of user code; 0: all */
	uint64_t drain_ns;  /* how often the kernel's tables are emptied; 0: by default */
	struct apart apart;
	bool is_timed;		    /* what samples take in the kernel is measured */
	bool has_pins;		    /* the kernel goes on when this process is killed */
	uint64_t segment_ns;	    /* how often a segment is made */
	uint64_t symbols_max_bytes; /* kept of what is met; 0: none */
	struct database_retention retention;
	/* Readable when it is to end: from then on what hangs is waited for no longer
	 * than that, as at the end itself.  -1: there is none. */
	int end_fd;
	uint64_t patience_ns;
	const char *maker; /* command of this program that calls segment_maker_run() */
};

struct continuous_status {
	const char *how;    /* samples are taken */
	const char *notice; /* what is otherwise than it was asked for; "": nothing */
	struct recorder_status recorder;
	uint64_t running_ns;
	uint64_t period_ns; /* of the clock; 0: other events are sampled */
	/* Of the daemon itself and of what makes its segments. */
	uint64_t cpu_ns, own_bytes, maker_peak_bytes;
	uint64_t database_bytes, bytes_at_start; /* of this host */
	uint64_t symbols_bytes;			 /* beside them */
	/* Segments made since the start, and of the processes that make them. */
	const struct segment_job_counts *makers; /* borrowed */
	uint32_t epoch;
	const char *label; /* borrowed */
	/* What was taken is not in the database as it should be, or was not. */
	const struct trouble *trouble; /* borrowed */
	uint64_t waiting_bytes;	       /* in memory, for the disk */
	uint64_t n_waiting;	       /* recordings that are to become segments */
	uint64_t n_failures;	       /* segments that could not be written at once */
	uint64_t n_damaged; /* recordings that were set aside, beside the epochs */
	bool is_paused;
	const struct apart *apart; /* borrowed */
	/* What a killed one had left, or NULL. */
	const struct recorder_left *left;
	bool wants_pins; /* was that asked for? */
};

/* What was taken lately: all of it from opened_ns to taken_ns is in the recording that is
 * there now, which the next segment ends. */
struct continuous_recent {
	const char *path;	      /* borrowed */
	const char *refusal;	      /* of what would count in the kernel, or "" */
	uint64_t opened_ns, taken_ns; /* of the monotonic clock */
	uint64_t period_ns, lost;
	uint64_t cpu_ns, own_bytes; /* of the daemon itself, in user space */
	uint64_t kernel_bytes;
	bool has_processes; /* those of one name are told apart */
};

must_use int continuous_new(const struct continuous_settings *settings,
			    struct continuous **ret, struct err *e);
/* What a killed one left in the kernel is removed, if something is there. */
must_use int continuous_unpin(const struct continuous_settings *settings,
			      bool *ret_was_there, struct err *e);
void continuous_free(struct continuous *c);
void continuous_freep(struct continuous **c);

/* Descriptors to poll for reading; at most max, returns how many. */
size_t continuous_fds(const struct continuous *c, struct pollfd *fds, size_t max);
/* What is due.  A failure to write keeps what was taken and is tried again, and is the
 * result each time. */
must_use int continuous_work(struct continuous *c, struct err *e);

/* What was taken so far is in the database when these return 0.  When making segments
 * hangs and the daemon is to end, they give up: it waits beside the epochs then, and the
 * next daemon finds it there. */
must_use int continuous_flush(struct continuous *c, struct err *e);
must_use int continuous_epoch(struct continuous *c, const char *label, struct err *e);
must_use int continuous_label(struct continuous *c, const char *label, struct err *e);
/* What was taken so far is in the open recording, nothing else changes. */
must_use int continuous_recent(struct continuous *c, struct continuous_recent *ret,
			       struct err *e);
/* Samples are taken, or not; the rest goes on. */
void continuous_pause(struct continuous *c, bool is_paused);
/* The same as a flush, and nothing is taken any more. */
must_use int continuous_stop(struct continuous *c, struct err *e);

void continuous_status(const struct continuous *c, struct continuous_status *ret);

#endif
