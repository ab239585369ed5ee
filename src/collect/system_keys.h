/* SPDX-License-Identifier: Apache-2.0
 *
 * system_keys - what the keys of the kernel's tables stand for, and what was counted.
 *
 * There are two tables, of which one is filled while the other is drained; sums have
 * numbers for keys, which say in which generation they were given, and with that in which
 * table they are.  Zero-initialise each, release with system_keys_fini().
 */
#ifndef DWELL_COLLECT_SYSTEM_KEYS_H
#define DWELL_COLLECT_SYSTEM_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "wire/stack_record.h"
#include "wire/state_record.h"

/* Where its record is, and what was counted since the last drain. */
struct system_key {
	size_t at;
	enum stack_record_kind kind; /* of the record */
	uint64_t count, weight;
	uint64_t n_waits, wait_ns; /* for a CPU, behind what the key stands for */
	uint64_t waits_since_ns;   /* for others to tell of its process; 0: it has not */
};

/* A table. */
struct system_keys {
	struct map at; /* key → index of counted */
	VEC(struct system_key) counted;
	struct buf records;
};

void system_keys_fini(struct system_keys *k);
void system_keys_clear(struct system_keys *k);
/* Told again, after it had left the table: nothing is new, but where a stack takes the
 * place of what was the same as another. */
void system_keys_add(struct system_keys *k, uint64_t key, enum stack_record_kind kind,
		     const void *record, size_t size);
/* As many bytes as a record has. */
size_t system_keys_bytes(const struct stack_record *r);
const void *system_keys_record(const struct system_keys *k, const struct system_key *x);
/* Records behind each other, as they are in another's table. */
void system_keys_load(struct system_keys *k, const void *records, size_t size);
/* Every file that a key stands for, some more than once. */
void system_keys_each_image(const struct system_keys *k, void *ctx,
			    void (*image)(void *ctx, uint32_t number));

/* A stack, and what is inside of that. */
struct system_keys_meaning {
	const struct stack_record *stack; /* NULL: none was told */
	uint32_t label, state;
};

/* Of both tables. */
struct system_keys *system_keys_of(struct system_keys *tables, uint64_t number);
struct system_keys_meaning system_keys_mean(const struct system_keys *tables,
					    uint64_t number);
/* One of them; what keys of the other stand for stays known. */
void system_keys_forget(struct system_keys *tables, unsigned table);

#endif
