/* SPDX-License-Identifier: Apache-2.0 */
#include "numbered_tally.h"

#include "store/recording.h"

struct tally *numbered_tally(uint32_t number)
{
	struct tally *t = tally_new();
	const struct model_process p = { .comm = tally_string(t, "work"),
					 .parent = MODEL_NONE,
					 .exec_of = MODEL_NONE,
					 .exit_status = -1 };
	uint32_t image = tally_image(
		t, &(struct model_image){ .path = tally_string(t, "/bin/work") });

	tally_event(t, &(struct model_event){ .name = tally_string(t, "cpu-time"),
					      .unit = tally_string(t, "ns"),
					      .period = 1000 });
	tally_process(t, &p);
	tally_thread(t, &(struct model_thread){ 0 });
	tally_sample(t, &(struct model_sample){
				.weight = 1000,
				.cpu = MODEL_NONE,
				.count = 1,
				.stack = tally_stack(
					t, 0, tally_location(t, image, number, 0)) });
	return t;
}

static int count_block(const struct recording *r, const struct sample_block *b,
		       uint32_t *n, uint32_t max, struct err *e)
{
	for (size_t i = 0; i < b->n; i++) {
		const struct model_stack *s = &recording_stacks(r)[b->stack[i]];
		uint64_t number = recording_locations(r)[s->location].offset;

		if (number >= max)
			return err_set(e, ERR_FORMAT, "a number that nobody wrote");
		n[number] += b->count[i];
	}
	return 0;
}

int numbered_tally_count(const struct database *d, const struct database_epoch *ep,
			 uint32_t *n, uint32_t max, struct err *e)
{
	own(sample_block_fini) struct sample_block b = { 0 };
	int rc = 0;

	for (size_t i = 0; i < ep->n_segments && rc == 0; i++) {
		own(recording_freep) struct recording *r = NULL;

		rc = recording_open(d->segments.at[ep->first_segment + i].path, &r, e);
		if (rc == 0 && (recording_damage(r) || !recording_is_complete(r)))
			rc = err_set(e, ERR_FORMAT, "%s: %.300s", recording_path(r),
				     recording_damage(r));
		for (size_t k = 0; rc == 0 && k < recording_n_sample_blocks(r); k++) {
			rc = recording_read_samples(r, k, SAMPLE_ALL, &b, e);
			if (rc == 0)
				rc = count_block(r, &b, n, max, e);
		}
	}
	return rc;
}
