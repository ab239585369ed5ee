/* SPDX-License-Identifier: Apache-2.0
 *
 * many_samples - a recording of a large program, much larger than a run would make.
 *
 *	usage: many_samples OUTPUT IMAGE BUILD-ID TEXT-OFFSET TEXT-SIZE SAMPLES STACKS
 *PLACES
 *
 * SAMPLES time-stamped samples of eight threads on STACKS distinct stacks, made of
 * PLACES distinct addresses spread evenly over the image's code: a third of them
 * leaves, the others return addresses.  A stack hangs below a part of an earlier one,
 * at most MAX_DEPTH deep; some are much hotter than others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/own.h"
#include "store/writer.h"

#define MAX_DEPTH  40
#define OWN_NODES  4 /* callers that a stack adds below an earlier one's */
#define PERIOD_NS  1000000
#define N_THREADS  8
#define N_HOT_BITS 3 /* a sample's stack is the smallest of so many random ones */

struct spec {
	const char *path, *image, *build_id;
	uint64_t text_offset, text_size, n_samples, n_stacks, n_places;
};

static void die(const struct err *e)
{
	fprintf(stderr, "many_samples: %s\n", e->text);
	exit(1);
}

static uint32_t add_image(struct writer *w, const struct spec *s)
{
	struct model_image image = { .path = writer_string(w, s->image),
				     .kind = IMAGE_ELF };
	struct stat st;
	unsigned byte;

	if (stat(s->image, &st) == 0) {
		image.size_bytes = (uint64_t)st.st_size;
		image.mtime_s = (uint64_t)st.st_mtime;
	}
	for (const char *p = s->build_id; sscanf(p, "%2x", &byte) == 1; p += 2)
		if (image.build_id_size < MODEL_BUILD_ID_MAX)
			image.build_id[image.build_id_size++] = (uint8_t)byte;
	return writer_image(w, &image);
}

/* Ids of the places: [0, n/3) are leaves. */
static void add_places(struct writer *w, const struct spec *s, uint32_t *places)
{
	uint32_t image = add_image(w, s);

	for (uint64_t i = 0; i < s->n_places; i++) {
		/* Leaves are everywhere, not only where the code begins. */
		uint64_t at = (i * 7919) % s->n_places;

		places[i] = writer_location(
			w, image, s->text_offset + at * s->text_size / s->n_places,
			i < s->n_places / 3 ? 0 : LOCATION_RETURN);
	}
}

static void add_stacks(struct writer *w, const struct spec *s, const uint32_t *places,
		       uint32_t *stacks)
{
	uint64_t n_leaves = s->n_places / 3, n_callers = s->n_places - n_leaves;
	own(freep) uint32_t *caller = xcalloc(s->n_stacks, sizeof(*caller));
	own(freep) uint8_t *depth = xcalloc(s->n_stacks, sizeof(*depth));

	for (uint64_t i = 0; i < s->n_stacks; i++) {
		uint64_t random = hash_u64(i + 1), below = i ? random % i : 0;
		uint32_t stack = depth[below] < MAX_DEPTH ? caller[below] : 0;

		depth[i] = (uint8_t)((stack ? depth[below] : 0) + OWN_NODES);
		for (uint64_t k = 0; k < OWN_NODES; k++) {
			random = hash_u64(random + k);
			stack = writer_stack(w, stack,
					     places[n_leaves + random % n_callers]);
		}
		caller[i] = stack;
		stacks[i] = writer_stack(w, stack,
					 places[(i * 31 + (random >> 40)) % n_leaves]);
	}
}

static uint64_t hot_stack(uint64_t random, uint64_t n_stacks)
{
	uint64_t least = random % n_stacks;

	for (unsigned i = 1; i < N_HOT_BITS; i++) {
		random = hash_u64(random);
		if (random % n_stacks < least)
			least = random % n_stacks;
	}
	return least;
}

static void add_samples(struct writer *w, const struct spec *s, const uint32_t *stacks)
{
	for (uint64_t i = 0; i < s->n_samples; i++) {
		uint64_t random = hash_u64(i + 1);
		/* Every stack is seen at least once. */
		uint64_t stack = i < s->n_stacks ? i : hot_stack(random, s->n_stacks);

		writer_sample(w, &(struct model_sample){
					 .time_ns = 1 + i * (PERIOD_NS / N_THREADS) +
						    random % 4096,
					 .weight = PERIOD_NS,
					 .thread = i % N_THREADS,
					 .cpu = i % N_THREADS / 2,
					 .stack = stacks[stack],
					 .count = 1,
				 });
	}
}

static void add_program(struct writer *w, const struct spec *s)
{
	uint32_t name = writer_string(w, "big");
	struct model_process process = { .pid = 100,
					 .parent = MODEL_NONE,
					 .exec_of = MODEL_NONE,
					 .comm = name,
					 .exe = writer_string(w, s->image) };
	struct model_event event = { .name = writer_string(w, "cpu-time"),
				     .unit = writer_string(w, "ns"),
				     .experiment = writer_string(w, "usertime"),
				     .source = writer_string(w, "bench"),
				     .flags = EVENT_SAMPLED,
				     .period = PERIOD_NS };

	uint32_t id = writer_process(w, &process);

	for (uint32_t i = 0; i < N_THREADS; i++)
		writer_thread(w, &(struct model_thread){
					 .process = id, .tid = 100 + i, .name = name });
	writer_event(w, &event);
	writer_info(w, "command", "big");
}

static void write_recording(const struct spec *s)
{
	own(freep) uint32_t *places = xcalloc(s->n_places, sizeof(*places));
	own(freep) uint32_t *stacks = xcalloc(s->n_stacks, sizeof(*stacks));
	struct writer *w = NULL;
	struct err e = { 0 };

	if (writer_create(s->path, NULL, &w, &e) < 0)
		die(&e);
	add_program(w, s);
	add_places(w, s, places);
	add_stacks(w, s, places, stacks);
	add_samples(w, s, stacks);
	if (writer_close(w, &e) < 0)
		die(&e);
}

int main(int argc, char **argv)
{
	struct spec s;

	if (argc != 9) {
		fprintf(stderr, "usage: many_samples OUTPUT IMAGE BUILD-ID TEXT-OFFSET "
				"TEXT-SIZE SAMPLES STACKS PLACES\n");
		return 2;
	}
	s = (struct spec){ argv[1],
			   argv[2],
			   argv[3],
			   strtoull(argv[4], NULL, 0),
			   strtoull(argv[5], NULL, 0),
			   strtoull(argv[6], NULL, 0),
			   strtoull(argv[7], NULL, 0),
			   strtoull(argv[8], NULL, 0) };
	if (s.n_places < 3 || !s.n_stacks || s.n_samples < s.n_stacks) {
		fprintf(stderr,
			"many_samples: at least 3 places, 1 stack, and a sample of "
			"each stack\n");
		return 2;
	}
	write_recording(&s);
	return 0;
}
