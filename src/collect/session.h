/* SPDX-License-Identifier: Apache-2.0
 *
 * session - one recording from settings to the closed file.
 *
 * session_new() makes everything definite (which source feeds which experiment, where
 * the file goes), so that a dry run can show it; session_run() records.
 */
#ifndef DWELL_COLLECT_SESSION_H
#define DWELL_COLLECT_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/apart.h"
#include "collect/experiment.h"
#include "collect/session_signals.h"
#include "collect/source.h"

#define SESSION_EXPERIMENTS_MAX 8

struct session;

/* Who reads the recording along while it is written: asks at a descriptor. */
struct session_company {
	int fd;
	void *ctx;
	/* The descriptor is readable. */
	void (*serve)(void *ctx, struct session *s);
};

/* What the user wants.  All borrowed; they outlive the session. */
struct session_settings {
	struct experiment_choice choices[SESSION_EXPERIMENTS_MAX];
	size_t n_choices;
	bool trace;
	bool insn;    /* which way branches go, from the registers of samples */
	bool is_flat; /* of io: without stacks */
	uint64_t wait_threshold_ns; /* see struct plan */
	uint64_t sample_bytes; /* of the heap, for each block observed; 0: every block */
	bool wants_jit; /* set the flags that make run-time compilers name their code */

	enum scope_kind kind;
	char *const *argv; /* of SCOPE_LAUNCH, NULL-terminated */
	const char *user;  /* run as; NULL: as ourselves */
	const pid_t *pids;
	size_t n_pids;
	const uint32_t *cpus;
	size_t n_cpus;
	const struct apart *apart;	/* of SCOPE_CPUS; NULL: processes and threads */
	const struct code_place *under; /* see struct scope */
	size_t n_under;
	const char *follow; /* "on" (also NULL), "off", or a regular expression */
	const char *source; /* use this one; NULL: the best */

	uint64_t duration_ns, delay_ns; /* 0: none */
	bool starts_paused;
	struct session_signal_numbers signals;
	uint64_t callstack_ns; /* regions: a callstack is kept so often; 0: never */

	const char *output;	       /* NULL: PROGRAM.EXPERIMENT.PID.dwell */
	uint64_t max_bytes;	       /* 0: no limit */
	const char *comment, *options; /* as typed; NULL: none */
	const char *version;
	bool no_time;	    /* samples that differ only in time are one */
	uint64_t global_ns; /* between intervals; 0: they end by other causes */
	const struct session_company *company; /* NULL: nobody */
};

/* What came of it. */
struct session_outcome {
	char path[PATH_MAX];
	bool was_launched, is_exec_failure, was_interrupted;
	int status;	/* of the program, as from wait(2) */
	int exec_errno; /* of is_exec_failure */
	uint64_t wall_ns;
	uint64_t asleep_ns; /* the machine was, beside that */
	uint64_t stolen_ns; /* by the hypervisor, of all CPUs, meanwhile */
	bool has_rusage;
	uint64_t user_ns, system_ns; /* of the program by the kernel's account */
	struct source_stats stats;
	uint64_t self_cpu_ns, self_max_rss_bytes, bytes;
	uint64_t n_stacks, n_truncated; /* stacks walked, and those that ended early */
	unsigned n_running;		/* processes that outlive the program ... */
	uint32_t running_pid;		/* ... and one of them */
	const char *jit_refusal;	/* what --jit could not do, or NULL */
	struct err write_failure;	/* .code 0: none; the recording ends there */
	uint64_t write_failure_ns;	/* when, after the start */
};

must_use int session_new(const struct session_settings *settings, struct session **ret,
			 struct err *e);
void session_free(struct session *s);
void session_freep(struct session **s);

/* Every setting in words, for a dry run. */
typedef void session_line_fn(void *ctx, const char *name, const char *value);
void session_describe(const struct session *s, session_line_fn *fn, void *ctx);

/* Of what was asked for, without the experiments that are not recorded. */
const struct session_settings *session_settings(const struct session *s);
/* What is not as it was asked for, in one line; NULL: everything is. */
const char *session_notice(const struct session *s);
/* What was asked for and will not be recorded, and why; NULL: everything will. */
const char *session_unrecorded(const struct session *s);

/* Records until the program ends, the time is over or a signal says so.  Even a failure
 * after the start keeps what was taken. */
must_use int session_run(struct session *s, struct session_outcome *ret, struct err *e);

/* For the company.  All that was observed until taken_ns is in the file then. */
struct session_progress {
	const char *path; /* borrowed */
	const char *how;  /* the first experiment's first column is collected */
	uint64_t start_ns, taken_ns, bytes;
	struct source_stats stats;
};

must_use int session_sync(struct session *s, struct session_progress *ret, struct err *e);
/* The recording ends, in order. */
void session_end(struct session *s);

#endif
