/* SPDX-License-Identifier: Apache-2.0
 *
 * session_notes - what a recording says about itself: its name, events and facts.
 */
#ifndef DWELL_COLLECT_SESSION_NOTES_H
#define DWELL_COLLECT_SESSION_NOTES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/buf.h"
#include "collect/session.h"
#include "collect/tracker.h"
#include "store/writer.h"

/* The file: as asked for, or PROGRAM.EXPERIMENT.PID.dwell. */
void session_notes_path(const struct session_settings *x, pid_t pid, char *s, size_t cap);
/* Under sudo the recording belongs to the caller. */
void session_notes_owner(struct writer_options *options);
void session_notes_describe(const struct session_settings *x, const struct scope *scope,
			    const struct plan *plans, session_line_fn *fn, void *ctx);

/* Declares the columns of a plan, and notes their ids in it. */
void session_notes_events(struct writer *w, struct plan *plan);
/* Host, kernel, CPUs. */
void session_notes_machine(struct writer *w);
void session_notes_begin(struct writer *w, const struct session_settings *x,
			 const struct plan *plans, uint64_t start_ns);
/* How it is meanwhile, as control_lines. */
void session_notes_status(const struct session_settings *x,
			  const struct session_progress *p, pid_t program, bool is_paused,
			  struct buf *lines);
void session_notes_rusage(struct writer *w, const struct rusage *u,
			  struct session_outcome *o);
/* Why the recording ends early. */
void session_notes_unwritten(struct writer *w, const struct session_outcome *o);
/* What one more source tells at its end. */
void session_notes_add(struct source_stats *sum, const struct source_stats *x);
void session_notes_end(struct writer *w, const struct tracker *t,
		       struct session_outcome *o);

#endif
