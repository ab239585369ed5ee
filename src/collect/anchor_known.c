/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_known.h"

#include <stdbool.h>
#include <string.h>

void anchor_known_fini(struct anchor_known *k)
{
	count_common_free(k->common);
	*k = (struct anchor_known){ 0 };
}

static bool read_header(const struct count_window *w, struct count_file_header *ret)
{
	return w->size >= sizeof(*ret) && w->read(w->ctx, 0, ret, sizeof(*ret)) &&
	       ret->magic == COUNT_FILE_MAGIC;
}

static bool is_known(const struct anchor_known *k, const struct count_file_header *h)
{
	return k->common && h->id.time_ns && !memcmp(&k->id, &h->id, sizeof(k->id));
}

int anchor_known_open(const struct anchor_known *k, const struct count_window *w,
		      struct count_reader *ret, struct err *e)
{
	struct count_file_header h;

	return read_header(w, &h) && is_known(k, &h)
		       ? count_reader_open_child(w, k->common, ret, e)
		       : count_reader_open(w, ret, e);
}

/* It takes as long as some windows' reading: so half as much again has to be new. */
static bool has_enough_new(const struct anchor_known *k,
			   const struct count_file_header *h)
{
	uint32_t n = is_known(k, h) ? count_common_there(k->common)->n_blocks : 1;

	return h->n_blocks - n > n / 2;
}

void anchor_known_learn(struct anchor_known *k, const struct count_window *w)
{
	struct count_file_header h;
	struct count_file_base there;

	if (!read_header(w, &h) || !has_enough_new(k, &h))
		return;
	there = (struct count_file_base){ h.id, h.images_bytes, h.n_blocks, h.n_pairs,
					  h.n_returns };
	anchor_known_fini(k);
	if (count_common_read(w, &there, &k->common, NULL) == 0)
		k->id = h.id;
}
