/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_recorder.h"

#include <stdlib.h>

#include "base/mem.h"
#include "collect/system_images.h"
#include "collect/system_numbers.h"
#include "collect/system_rows.h"
#include "host/clock.h"

struct system_recorder {
	struct system_sampler *sampler;
	struct system_rows *rows;
	struct system_images *images;
	struct system_numbers *numbers;
	struct system_counts *counts;
	uint64_t period_ns, drain_ns;
	uint64_t jittered_ns, drained_ns;
	uint64_t fetched_ns, longest_gap_ns;
};

static void on_image(void *ctx, const struct stack_record_image *r)
{
	system_images_meet(((struct system_recorder *)ctx)->images, r);
}

static void on_stack(void *ctx, const struct stack_record *r)
{
	system_counts_stack(((struct system_recorder *)ctx)->counts, r);
}

static void on_count(void *ctx, unsigned table, uint64_t key, uint32_t count)
{
	system_counts_count(((struct system_recorder *)ctx)->counts, table, key, count);
}

static void on_forget(void *ctx, uint32_t number)
{
	struct system_recorder *r = ctx;

	system_images_forget(r->images, number);
	system_rows_forget(r->rows, number);
}

static int make_numbers(struct system_recorder *r, struct err *e)
{
	struct system_numbers_settings settings = { .ctx = r, .forget = on_forget };
	struct system_numbers_maps maps;

	system_sampler_numbers(r->sampler, &maps);
	return system_numbers_new(&maps, &settings, &r->numbers, e);
}

int system_recorder_new(const struct system_sampler_settings *settings,
			struct system_recorder **ret, struct err *e)
{
	own(system_recorder_freep) struct system_recorder *r = xcalloc(1, sizeof(*r));
	struct system_sink sink = {
		.ctx = r, .image = on_image, .stack = on_stack, .count = on_count
	};
	struct system_rows_maps maps;
	int rc = system_sampler_new(settings, &sink, &r->sampler, e);

	if (rc < 0)
		return rc;
	system_sampler_maps(r->sampler, &maps);
	rc = system_rows_new(&maps, SYSTEM_RECORDER_ROWS_BYTES, &r->rows, e);
	if (rc == 0)
		rc = make_numbers(r, e);
	if (rc < 0)
		return rc;
	r->images = system_images_new(r->rows);
	r->counts = system_counts_new(r->images);
	r->period_ns = settings->period_ns;
	r->drain_ns = settings->drain_ns ? settings->drain_ns : SYSTEM_RECORDER_DRAIN_NS;
	*ret = steal(&r);
	return 0;
}

void system_recorder_keep_symbols(struct system_recorder *r, struct symbol_store *symbols)
{
	system_images_keep_symbols(r->images, symbols);
}

void system_recorder_free(struct system_recorder *r)
{
	if (!r)
		return;
	system_sampler_free(r->sampler);
	system_counts_free(r->counts);
	system_images_free(r->images);
	system_numbers_free(r->numbers);
	system_rows_free(r->rows);
	free(r);
}

void system_recorder_freep(struct system_recorder **r)
{
	system_recorder_free(*r);
}

void system_recorder_begin(struct system_recorder *r, struct writer *w, uint32_t event)
{
	struct system_counts_events events = { .ids = { event }, .period = r->period_ns };

	system_counts_begin(r->counts, w, &events);
}

int system_recorder_start(struct system_recorder *r, struct err *e)
{
	return system_sampler_start(r->sampler, e);
}

int system_recorder_fd(const struct system_recorder *r)
{
	return system_sampler_fd(r->sampler);
}

/* The rings were emptied. */
static void note_fetch(struct system_recorder *r)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (r->fetched_ns && now_ns - r->fetched_ns > r->longest_gap_ns)
		r->longest_gap_ns = now_ns - r->fetched_ns;
	r->fetched_ns = now_ns;
}

void system_recorder_drain(struct system_recorder *r, uint64_t now_ns)
{
	unsigned table = system_sampler_drain(r->sampler);

	note_fetch(r);
	r->drained_ns = now_ns;
	system_sampler_follow(r->sampler);
	system_counts_write(r->counts, table, now_ns);
	system_rows_tick(r->rows, now_ns);
	system_numbers_tick(r->numbers, now_ns);
}

void system_recorder_work(struct system_recorder *r, uint64_t now_ns)
{
	/* Rings are not to overflow while a large file is read. */
	do {
		system_sampler_fetch(r->sampler);
		note_fetch(r);
	} while (system_images_load(r->images));
	if (now_ns - r->jittered_ns >= SYSTEM_RECORDER_JITTER_NS) {
		r->jittered_ns = now_ns;
		system_sampler_jitter(r->sampler);
	}
	if (now_ns - r->drained_ns >= r->drain_ns)
		system_recorder_drain(r, now_ns);
}

void system_recorder_pause(struct system_recorder *r, bool is_paused)
{
	system_sampler_pause(r->sampler, is_paused);
}

void system_recorder_stop(struct system_recorder *r)
{
	system_sampler_stop(r->sampler);
}

int system_recorder_end(struct system_recorder *r, uint64_t now_ns, bool has_symbols,
			struct err *e)
{
	system_recorder_drain(r, now_ns);
	system_recorder_drain(r, now_ns);
	return system_counts_end(r->counts, has_symbols, e);
}

void system_recorder_status(const struct system_recorder *r,
			    struct system_recorder_status *ret)
{
	system_sampler_stats(r->sampler, &ret->kernel);
	ret->longest_gap_ns = r->longest_gap_ns;
	system_sampler_late(r->sampler, &ret->late);
	ret->counts = *system_counts_stats(r->counts);
	ret->rows_bytes = system_rows_bytes(r->rows);
	ret->other_bytes = system_sampler_bytes(r->sampler);
	ret->n_images = system_rows_n_loaded(r->rows);
	ret->n_gone = system_images_n_gone(r->images);
	ret->n_again = system_numbers_n_again(r->numbers);
	ret->n_unnumbered = system_sampler_n_unnumbered(r->sampler);
}
