/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_keys.h"

#include <string.h>

#define AGAIN_MAX 4 /* keys of which each stands for the same as the next */

/* Each kind of record has its key at the same place. */
_Static_assert(offsetof(struct stack_record, key) ==
			       offsetof(struct stack_record_pair, key) &&
		       offsetof(struct stack_record, key) ==
			       offsetof(struct stack_record_again, key),
	       "layout");

void system_keys_fini(struct system_keys *k)
{
	map_fini(&k->at);
	vec_fini(&k->counted);
	buf_fini(&k->records);
}

void system_keys_clear(struct system_keys *keys)
{
	map_clear(&keys->at);
	keys->counted.n = 0;
	buf_clear(&keys->records);
}

void system_keys_add(struct system_keys *k, uint64_t key, enum stack_record_kind kind,
		     const void *record, size_t size)
{
	bool is_new;
	uint64_t *at = map_slot(&k->at, key, &is_new);
	struct system_key *had = is_new ? NULL : &k->counted.at[*at];

	if (had && had->kind == STACK_RECORD_AGAIN && kind == STACK_RECORD_STACK) {
		had->at = k->records.size;
		had->kind = kind;
		buf_add(&k->records, record, size);
	}
	if (had)
		return;
	*at = k->counted.n;
	*vec_push(&k->counted) =
		(struct system_key){ .at = k->records.size, .kind = kind };
	buf_add(&k->records, record, size);
}

size_t system_keys_bytes(const struct stack_record *r)
{
	return offsetof(struct stack_record, frames) +
	       8 * ((size_t)r->n_kernel + r->n_user);
}

struct system_keys *system_keys_of(struct system_keys *tables, uint64_t number)
{
	return &tables[STATE_RECORD_GENERATION(number) & 1];
}

const void *system_keys_record(const struct system_keys *keys, const struct system_key *k)
{
	return keys->records.data + k->at;
}

/* Where a number is known, NULL: nowhere.  What keys of the next generation are of is
 * kept with them. */
static const struct system_key *find_number(const struct system_keys *tables,
					    uint64_t number,
					    const struct system_keys **ret)
{
	for (uint64_t i = 0; i < 2; i++) {
		const struct system_keys *keys =
			&tables[(STATE_RECORD_GENERATION(number) + i) & 1];
		const uint64_t *at = map_find(&keys->at, number);

		*ret = keys;
		if (at)
			return &keys->counted.at[*at];
	}
	return NULL;
}

/* It may be the same as one of the generation before, which is remembered as long as
 * this, and either the same but for its label as another. */
struct system_keys_meaning system_keys_mean(const struct system_keys *tables,
					    uint64_t number)
{
	struct system_keys_meaning m = { 0 };
	const struct system_keys *keys;
	const struct system_key *k = find_number(tables, number, &keys);

	for (unsigned i = 0; i < AGAIN_MAX && k && k->kind == STACK_RECORD_AGAIN; i++) {
		const struct stack_record_again *again = system_keys_record(keys, k);

		if (!m.label) {
			m.label = again->label;
			m.state = again->state;
		}
		k = find_number(tables, again->of, &keys);
	}
	if (!k || k->kind != STACK_RECORD_STACK)
		return (struct system_keys_meaning){ 0 };
	m.stack = system_keys_record(keys, k);
	if (!m.label) {
		m.label = m.stack->label;
		m.state = m.stack->state;
	}
	return m;
}

/* What a number stands for, in a table of its own. */
static void keep_stack(struct system_keys *tables, struct system_keys *keys,
		       uint64_t number)
{
	const struct system_keys_meaning m = system_keys_mean(tables, number);
	struct stack_record kept;

	if (!m.stack)
		return;
	memcpy(&kept, m.stack, system_keys_bytes(m.stack));
	kept.key = number;
	kept.label = m.label;
	kept.state = m.state;
	system_keys_add(keys, number, STACK_RECORD_STACK, &kept,
			system_keys_bytes(&kept));
}

/* What it is the same as is its own from now on. */
static void keep_again(struct system_keys *tables, struct system_keys *keys, size_t i)
{
	const struct stack_record_again *again =
		system_keys_record(keys, &keys->counted.at[i]);

	keep_stack(tables, keys, again->key);
}

static void keep_pair(struct system_keys *tables, struct system_keys *keys, size_t i)
{
	struct stack_record_pair pair;

	memcpy(&pair, system_keys_record(keys, &keys->counted.at[i]), sizeof(pair));
	keep_stack(tables, keys, pair.waiter);
	keep_stack(tables, keys, pair.waker);
}

void system_keys_forget(struct system_keys *tables, unsigned table)
{
	struct system_keys *other = &tables[!table];

	for (size_t i = 0, n = other->counted.n; i < n; i++) {
		if (other->counted.at[i].kind == STACK_RECORD_AGAIN)
			keep_again(tables, other, i);
		else if (other->counted.at[i].kind == STACK_RECORD_PAIR)
			keep_pair(tables, other, i);
	}
	system_keys_clear(&tables[table]);
}

/* The bytes that a record has, of so many that are left; 0: there is none. */
static size_t size_of(const void *record, size_t left)
{
	const struct stack_record *r = record;
	size_t size = 0;

	if (left < sizeof(struct stack_record_again))
		return 0;
	if (r->kind == STACK_RECORD_STACK &&
	    left >= offsetof(struct stack_record, frames))
		size = system_keys_bytes(r);
	else if (r->kind == STACK_RECORD_PAIR)
		size = sizeof(struct stack_record_pair);
	else if (r->kind == STACK_RECORD_AGAIN)
		size = sizeof(struct stack_record_again);
	return size <= left && size <= sizeof(*r) ? size : 0;
}

void system_keys_load(struct system_keys *k, const void *records, size_t size)
{
	const uint8_t *at = records;
	size_t n;

	while ((n = size_of(at, size))) {
		const struct stack_record *r = (const void *)at;

		system_keys_add(k, r->key, r->kind, r, n);
		at += n;
		size -= n;
	}
}

static void each_image_of(const struct stack_record *r, void *ctx,
			  void (*image)(void *ctx, uint32_t number))
{
	uint32_t last = r->exe;

	if (last >= STACK_RECORD_FILES)
		image(ctx, last);
	for (uint32_t i = 0; i < r->n_user; i++) {
		uint32_t number = (uint32_t)(r->frames[r->n_kernel + i] >>
					     STACK_RECORD_IMAGE_SHIFT);

		if (number == last || number < STACK_RECORD_FILES ||
		    number >= STACK_RECORD_ADDRESS)
			continue;
		image(ctx, number);
		last = number;
	}
}

void system_keys_each_image(const struct system_keys *k, void *ctx,
			    void (*image)(void *ctx, uint32_t number))
{
	vec_each(x, &k->counted)
		if (x->kind == STACK_RECORD_STACK)
			each_image_of(system_keys_record(k, x), ctx, image);
}
