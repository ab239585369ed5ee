/* SPDX-License-Identifier: Apache-2.0
 *
 * system_sampler - samples of whole CPUs, counted in the kernel by stack.
 *
 * BPF programs at a clock event of each CPU walk the stacks and count them
 * (wire/stack_record.h); this loads them, and fetches what they counted.  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_SAMPLER_H
#define DWELL_COLLECT_SYSTEM_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/apart.h"
#include "collect/system_code.h"
#include "collect/system_events.h"
#include "collect/system_late.h"
#include "collect/system_ledger.h"
#include "collect/system_rings.h"
#include "host/cpus.h"
#include "wire/stack_record.h"

struct system_notes;
struct system_sampler;

struct system_sampler_settings {
	const struct cpus *cpus;
	const struct system_event *events; /* that are sampled */
	size_t n_events;		   /* 0: the CPU's clock, at period_ns */
	uint64_t period_ns;
	uint32_t n_at_once; /* no more events are on; 0: as many as can be */
	bool is_fixed;	    /* every period is the same */
	bool is_flat;	    /* innermost frames only */
	bool is_timed;	    /* what samples take is measured */
	struct apart apart;
	uint32_t depth;	   /* frames of user code; 0: as many as there may be */
	uint32_t n_sets;   /* of each CPU's tables, a power of two; 0: by default */
	size_t ring_bytes; /* of each CPU, a power of two; 0: by default */
	/* Name of the pins by which all goes on when this process is killed, and is taken
	 * over by the next that has that name; NULL: none. */
	const char *pins;
};

/* How much of what was counted is in a recording. */
struct system_sampler_written {
	uint64_t recording, bytes;     /* of its file */
	uint64_t unwritten;	       /* samples that wait for the disk */
	uint64_t told_lost, told_late; /* by earlier recordings */
};

/* ERR_UNSUPPORTED and why when the kernel does not let us. */
must_use int system_sampler_new(const struct system_sampler_settings *settings,
				const struct system_sink *sink,
				struct system_sampler **ret, struct err *e);
void system_sampler_free(struct system_sampler *s);
void system_sampler_freep(struct system_sampler **s);

/* For system_code_open(). */
struct system_code_maps system_sampler_maps(const struct system_sampler *s);

/* Do the programs understand this kernel?  Samples this thread for some milliseconds. */
must_use int system_sampler_check(struct system_sampler *s, struct err *e);
/* Begin, on those of the CPUs that are online. */
must_use int system_sampler_start(struct system_sampler *s, struct err *e);
/* What CPUs that came or went need, if it is time to look for them. */
void system_sampler_follow(struct system_sampler *s, uint64_t now_ns);
/* Readable when there is something to fetch at once. */
int system_sampler_fd(const struct system_sampler *s);
/* What the rings hold: images that were met, stacks. */
void system_sampler_fetch(struct system_sampler *s);
/* And all counts of the table that was filled so far, which is returned: from now on it
 * is the other's turn. */
unsigned system_sampler_drain(struct system_sampler *s);
/* Of that table is nothing needed any more: it is in the recording. */
void system_sampler_done(struct system_sampler *s, unsigned table,
			 const struct system_sampler_written *written);
/* Nothing else is in it, yet. */
void system_sampler_note(struct system_sampler *s,
			 const struct system_sampler_written *written);
/* Is there so much that it is time to drain? */
bool system_sampler_is_filling(const struct system_sampler *s);
/* Draw the next periods, and it is the next events' turn. */
void system_sampler_jitter(struct system_sampler *s);
/* Are there so many more samples than the rate asked for that it is time to drain, which
 * sets new periods? */
bool system_sampler_is_exceeding(const struct system_sampler *s);
/* By an event that has a rate, until it was drained last. */
uint64_t system_sampler_counted(const struct system_sampler *s, size_t event);
/* Samples are taken, or not. */
void system_sampler_pause(struct system_sampler *s, bool is_paused);
/* No more samples, and nothing stays in the kernel. */
void system_sampler_stop(struct system_sampler *s);

/* Why nothing goes on when this process is killed; NULL: it does. */
const char *system_sampler_refusal(const struct system_sampler *s);
/* What was removed at the start as it could not be understood; "": nothing. */
const char *system_sampler_removed(const struct system_sampler *s, uint64_t *ret_samples);
/* It goes on with what a killed one left, which had written that much; NULL: nothing. */
const struct system_ledger_entry *system_sampler_taken(const struct system_sampler *s);
/* Had some CPU no more samples, as nobody asked for so long? */
bool system_sampler_has_ended(const struct system_sampler *s);
/* Where what is known of images stays, or NULL. */
struct system_notes *system_sampler_notes(struct system_sampler *s);

/* May an event have been off for a part of the time? */
bool system_sampler_takes_turns(const struct system_sampler *s);
/* How long each was on. */
void system_sampler_shares(struct system_sampler *s,
			   struct system_events_share ret[SYSTEM_EVENTS_MAX]);
/* Sums over the CPUs. */
void system_sampler_stats(const struct system_sampler *s, struct stack_record_stats *ret);
/* How late samples are, where that is measured. */
void system_sampler_late(const struct system_sampler *s, struct system_late *ret);
/* Memory of the maps and rings, without the rows. */
size_t system_sampler_bytes(const struct system_sampler *s);

#endif
