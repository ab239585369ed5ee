/* SPDX-License-Identifier: Apache-2.0
 *
 * dictionary - all that samples refer to, loaded from the blocks of a recording.
 *
 * Each block is applied as a whole or refused with the reason: then what it brought is
 * missing, and later blocks that refer to it are refused, too.  So every id in here is
 * in range and every stack's parent is smaller than the stack.
 */
#ifndef DWELL_STORE_DICTIONARY_H
#define DWELL_STORE_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/intern.h"
#include "base/reader.h"
#include "base/vec.h"
#include "store/format.h"
#include "store/model.h"
#include "store/record_list.h"

struct dictionary {
	uint32_t n[FORMAT_N_KINDS]; /* ids known, by enum format_kind */
	uint64_t max_bytes;	    /* of memory that one kind may take */
	struct arena text;
	VEC(const char *) strings;
	struct intern *info_keys; /* id - 1: index of infos */
	VEC(const char *) infos;  /* values */
	struct record_list lists[FORMAT_N_KINDS];
	VEC(struct model_location) locations;
	VEC(struct model_stack) stacks;
	VEC(uint32_t) spine; /* while stacks are read: the row before and its callers */
	struct buf scratch, column;
};

void dictionary_init(struct dictionary *d, uint64_t file_bytes);
/* The file has grown to that. */
void dictionary_grow(struct dictionary *d, uint64_t file_bytes);
void dictionary_fini(struct dictionary *d);
/* All is released but the counts. */
void dictionary_forget(struct dictionary *d);
/* The kind is one of a dictionary. */
bool dictionary_has_kind(unsigned kind);
/* NULL, or why the block was refused: a few words. */
const char *dictionary_apply(struct dictionary *d, unsigned kind, struct reader r);
/* The same of facts that are numbered from 0: they go behind all others. */
const char *dictionary_add_facts(struct dictionary *d, struct reader r);
/* For a part: room for n locations or stacks, at first empty.  False: too many. */
bool dictionary_reserve(struct dictionary *d, unsigned kind, uint64_t n);
/* One block of them, at its place; what it needs of other blocks it says itself. */
const char *dictionary_place(struct dictionary *d, unsigned kind, struct reader r);
/* Memory for loading is released. */
void dictionary_trim(struct dictionary *d);

#endif
