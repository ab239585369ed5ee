/* SPDX-License-Identifier: Apache-2.0
 *
 * What explains a recording's samples, without the stacks: for who reads stacks and
 * samples once, block by block.
 */
#include "base/mem.h"
#include "store/recording_data.h"

static int take_block(struct recording *r, const struct format_entry *b, struct err *e)
{
	uint32_t *n_stacks = &r->dictionary.n[FORMAT_STACKS];

	if (b->kind == FORMAT_SAMPLES)
		*vec_push(&r->samples) = (struct data_block){ b->offset, b->summary };
	else if (b->kind == FORMAT_STACKS && b->summary.n > UINT32_MAX - *n_stacks)
		return err_set(e, ERR_FORMAT, "damaged: the index");
	else if (b->kind == FORMAT_STACKS)
		*n_stacks += (uint32_t)b->summary.n;
	else if (dictionary_has_kind(b->kind) || b->kind == FORMAT_BLOB_PIECE ||
		 format_tells_of_instructions(b->kind))
		return recording_load_block(r, b, e);
	return 0;
}

int recording_open_front(const char *path, struct recording **ret, struct err *e)
{
	own(recording_freep) struct recording *r = xcalloc(1, sizeof(*r));
	int rc = block_source_open(&r->source, path, e);

	if (rc < 0)
		return rc;
	dictionary_init(&r->dictionary, r->source.size);
	rc = block_list_read(&r->list, &r->source, &r->damage, e);
	for (size_t i = 0; i < r->list.blocks.n && rc == 0; i++)
		rc = take_block(r, &r->list.blocks.at[i], e);
	if (rc < 0)
		return err_in(e, rc, path);
	recording_settle(r);
	if (r->damage_line || !r->source.has_whole_header)
		return err_set(e, ERR_FORMAT, "%s: %s", path,
			       r->damage_line ? r->damage_line : "damaged at its begin");
	*ret = steal(&r);
	return 0;
}

void recording_forget(struct recording *r)
{
	dictionary_forget(&r->dictionary);
}
