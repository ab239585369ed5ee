/* SPDX-License-Identifier: Apache-2.0 */
#include "store/writer_data.h"

#include "store/block_list.h"
#include "store/dictionary.h"
#include "store/recording.h"

/* Each entry must get the id again that it had: content that is there twice, which this
 * writer never makes, would not. */
static bool adopt_strings(struct writer *w, const struct dictionary *d)
{
	for (uint32_t i = 0; i < d->n[FORMAT_STRINGS]; i++)
		if (writer_string(w, d->strings.at[i]) != i)
			return false;
	w->n_strings_written = d->n[FORMAT_STRINGS];
	return true;
}

static bool adopt_records(struct writer *w, const struct dictionary *d,
			  enum format_kind kind)
{
	const struct record_list *from = &d->lists[kind];
	struct record_list *to = &w->lists[kind];

	for (uint32_t i = 0; i < from->n; i++) {
		const void *item = record_list_get(from, i);

		if (kind == FORMAT_IMAGES)
			writer_image(w, item);
		else if (kind == FORMAT_FACTS)
			writer_fact(w, item);
		else
			record_list_add(to, item);
	}
	writer_settle_records(w, kind);
	return to->n == from->n;
}

static bool adopt_frames(struct writer *w, const struct dictionary *d)
{
	for (uint32_t i = 0; i < d->n[FORMAT_LOCATIONS]; i++)
		if (location_table_add(&w->locations, &d->locations.at[i]) != i)
			return false;
	for (uint32_t i = 1; i < d->n[FORMAT_STACKS]; i++) {
		const struct model_stack *s = &d->stacks.at[i];

		if (stack_table_add(&w->stacks, s->parent, s->location) != i)
			return false;
	}
	location_table_settle(&w->locations);
	stack_table_settle(&w->stacks);
	return true;
}

static bool adopt(struct writer *w, const struct dictionary *d)
{
	bool is_good = adopt_strings(w, d);

	for (size_t i = 0; i < WRITER_N_RECORD_KINDS && is_good; i++)
		is_good = adopt_records(w, d, writer_record_kinds[i]);
	w->n_basic_blocks = d->n[FORMAT_BASIC_BLOCKS];
	return is_good && adopt_frames(w, d);
}

int writer_continue(const char *path, struct writer **ret, struct err *e)
{
	own(recording_freep) struct recording *r = NULL;
	own(writer_freep) struct writer *w = writer_new(NULL);
	int rc = recording_open(path, &r, e);

	if (rc < 0)
		return rc;
	if (!recording_is_sound(r))
		return err_set(e, ERR_FORMAT, "cannot add to '%s': %s", path,
			       recording_damage(r));
	if (recording_blocks(r)->has_interim)
		return err_set(e, ERR_UNSUPPORTED,
			       "cannot add to '%s': sums of what ran when its recorder "
			       "was killed are behind its end",
			       path);
	if (!adopt(w, recording_dictionary(r)))
		return err_set(e, ERR_UNSUPPORTED, "cannot add to '%s': foreign writer",
			       path);

	const struct block_list *list = recording_blocks(r);

	rc = block_sink_continue(&w->sink, path, list->blocks.at, list->blocks.n, e);
	if (rc < 0)
		return rc;
	*ret = steal(&w);
	return 0;
}
