/* SPDX-License-Identifier: Apache-2.0
 *
 * system_keeping - what the kernel counts goes on when this process is killed, and the
 * next one takes it over.
 *
 * Joins what is pinned: the programs' maps, what is known of files (system_notes) and how
 * much is in a recording (system_ledger).  One thread.
 */
#ifndef DWELL_COLLECT_SYSTEM_KEEPING_H
#define DWELL_COLLECT_SYSTEM_KEEPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "collect/system_hooks.h"
#include "collect/system_ledger.h"
#include "collect/system_notes.h"
#include "collect/system_pins.h"

struct bpf_object;
struct system_keeping;

#define SYSTEM_KEEPING_MORE_MAX 2

/* Whose it is: of what sort of programs. */
struct system_keeping_kind {
	const char *suffix; /* of the name that it is pinned under */
	const char *what;   /* is counted, as in "samples" */
	/* Maps beside those of the programs, and how one is made. */
	struct {
		const char *name;
		int (*make)(struct err *e);
	} more[SYSTEM_KEEPING_MORE_MAX];
	/* How much is in no recording, behind what the ledger says; 0: that is not
	 * known. */
	uint64_t (*left)(const struct system_pins *pins,
			 const struct system_ledger_entry *last);
};

/* Of samples. */
extern const struct system_keeping_kind system_keeping_samples;

/* Under that name, of so many rings.  Where nothing can be kept the rest does nothing,
 * and system_keeping_refusal() says why. */
struct system_keeping *system_keeping_new(const struct system_keeping_kind *kind,
					  const char *name, size_t n_rings);
/* What is pinned stays. */
void system_keeping_free(struct system_keeping *k);

/* An opened object's maps become those that are pinned, if they are of that layout: all
 * but what is constant.  False: nothing was changed. */
bool system_keeping_take(struct system_keeping *k, struct bpf_object *object,
			 uint64_t layout);
/* The same with the programs that run; false: these go on until something is begun. */
bool system_keeping_take_hooks(struct system_keeping *k, struct bpf_object *object,
			       uint64_t layout, const struct system_hook *hooks,
			       size_t n_hooks);
/* A loaded object's maps are pinned, and nothing else. */
void system_keeping_begin(struct system_keeping *k, struct bpf_object *object,
			  uint64_t layout);
/* Nothing is kept any more; the notes are there until the end. */
void system_keeping_end(struct system_keeping *k, const struct err *why);

/* The entry that was written last, whoever wrote it; and what is to be written next. */
struct system_ledger_entry *system_keeping_entry(struct system_keeping *k);
struct system_rings_place *system_keeping_places(struct system_keeping *k);
/* Both are true from now on. */
void system_keeping_write(struct system_keeping *k);

/* NULL: nothing is kept. */
const struct system_pins *system_keeping_pins(const struct system_keeping *k);
struct system_notes *system_keeping_notes(const struct system_keeping *k);
/* Why not; NULL: it is. */
const char *system_keeping_refusal(const struct system_keeping *k);
/* What was there and could not be taken, or ""; how many samples that lost, 0: that is
 * not known. */
const char *system_keeping_removed(const struct system_keeping *k, uint64_t *ret_samples);
/* A map of the kind's, or -1. */
int system_keeping_more(const struct system_keeping *k, unsigned i);

/* What was written last under that name, whatever the kind; false: nothing. */
bool system_keeping_last(const char *name, size_t n_rings,
			 struct system_ledger_entry *ret);
/* What a kind that nobody asks for any more has there under that name is removed; the
 * same as system_keeping_removed().  False: there is nothing. */
bool system_keeping_drop(const struct system_keeping_kind *kind, const char *name,
			 size_t n_rings, struct buf *ret_text, uint64_t *ret_n);

#endif
