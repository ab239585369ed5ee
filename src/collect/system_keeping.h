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

#include "base/err.h"
#include "base/own.h"
#include "collect/system_ledger.h"
#include "collect/system_notes.h"
#include "collect/system_pins.h"

struct bpf_object;
struct system_keeping;

/* Under that name, of so many rings.  Where nothing can be kept the rest does nothing,
 * and system_keeping_refusal() says why. */
struct system_keeping *system_keeping_new(const char *name, size_t n_rings);
/* What is pinned stays. */
void system_keeping_free(struct system_keeping *k);

/* An opened object's maps become those that are pinned, if they are of that layout: all
 * but what is constant.  False: nothing was changed. */
bool system_keeping_take(struct system_keeping *k, struct bpf_object *object,
			 uint64_t layout);
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
/* What was there and could not be taken, or "". */
const char *system_keeping_removed(const struct system_keeping *k);

#endif
