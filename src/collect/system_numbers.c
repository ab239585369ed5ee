/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_numbers.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "base/vec.h"
#include "wire/stack_record.h"
#include "wire/stack_rows.h"

#define SLOTS	       STACK_ROWS_IMAGES_MAX
#define IMAGES_BYTES   (SLOTS * sizeof(struct stack_image))
#define OFFERS_BYTES   (SLOTS * sizeof(uint64_t))
#define DEFAULT_SPARE  (SLOTS / 8)
#define DEFAULT_IDLE   UINT64_C(60000000000)
#define LOOK_NS	       UINT64_C(1000000000)
#define TRIES_PER_IDLE 8 /* reading the map of files takes some milliseconds */
/* Each table is drained twice: what is in the rings, or read while it was withdrawn, has
 * come by then. */
#define DRAINS 4

/* A file as the programs' map has it. */
struct numbered {
	struct stack_rows_file file;
	uint32_t number;
	uint64_t met_ns;
};

struct leaving {
	uint32_t number;
	unsigned drains;
};

struct system_numbers {
	struct system_numbers_maps maps;
	struct system_numbers_settings settings;
	struct stack_image *images;
	uint64_t *offers;
	uint64_t met_ns[SLOTS];
	uint64_t looked_ns, tried_ns;
	uint32_t n_given, n_taken; /* when it was looked last */
	VEC(struct leaving) leaving;
	uint64_t n_again;
};

static void *map_memory(int fd, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

int system_numbers_new(const struct system_numbers_maps *maps,
		       const struct system_numbers_settings *settings,
		       struct system_numbers **ret, struct err *e)
{
	own(system_numbers_freep) struct system_numbers *n = xcalloc(1, sizeof(*n));

	n->maps = *maps;
	n->settings = *settings;
	if (!n->settings.n_spare)
		n->settings.n_spare = DEFAULT_SPARE;
	if (!n->settings.idle_ns)
		n->settings.idle_ns = DEFAULT_IDLE;
	n->n_given = STACK_RECORD_FILES; /* what was given before us is new to us */
	n->n_taken = *maps->n_taken;
	n->images = map_memory(maps->images, IMAGES_BYTES);
	n->offers = map_memory(maps->offers, OFFERS_BYTES);
	if (!n->images || !n->offers)
		return err_os(e, "cannot map a BPF map");
	*ret = steal(&n);
	return 0;
}

void system_numbers_free(struct system_numbers *n)
{
	if (!n)
		return;
	if (n->images)
		munmap(n->images, IMAGES_BYTES);
	if (n->offers)
		munmap(n->offers, OFFERS_BYTES);
	vec_fini(&n->leaving);
	free(n);
}

void system_numbers_freep(struct system_numbers **n)
{
	system_numbers_free(*n);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Which were met since the last time, or are new. */
static void look(struct system_numbers *n, uint64_t now_ns)
{
	uint32_t given = smaller(*n->maps.n_given, SLOTS), taken = *n->maps.n_taken;

	for (uint32_t i = 0; i < given; i++)
		if (__atomic_fetch_and(&n->images[i].is_used, ~STACK_IMAGE_IS_MET,
				       __ATOMIC_RELAXED) &
		    STACK_IMAGE_IS_MET)
			n->met_ns[i] = now_ns;
	for (uint32_t i = n->n_given; i < given; i++)
		n->met_ns[i] = now_ns;
	for (uint32_t i = n->n_taken; i != taken; i++)
		n->met_ns[STACK_ROWS_SLOT(n->offers[i % SLOTS])] = now_ns;
	n->n_given = given;
	n->n_taken = taken;
	n->looked_ns = now_ns;
}

static uint32_t n_left(const struct system_numbers *n)
{
	return SLOTS - smaller(*n->maps.n_given, SLOTS) +
	       (*n->maps.n_offered - *n->maps.n_taken);
}

/* What the map of files holds. */
static size_t read_files(const struct system_numbers *n, struct numbered *all)
{
	struct stack_rows_file file, *last = NULL;
	size_t count = 0;

	while (count < SLOTS && bpf_map_get_next_key(n->maps.files, last, &file) == 0) {
		struct numbered *x = &all[count];

		x->file = file;
		if (bpf_map_lookup_elem(n->maps.files, &file, &x->number) < 0)
			break;
		x->met_ns = n->met_ns[STACK_ROWS_SLOT(x->number)];
		last = &x->file;
		count++;
	}
	return count;
}

static int compare_met(const void *a, const void *b)
{
	uint64_t x = ((const struct numbered *)a)->met_ns;
	uint64_t y = ((const struct numbered *)b)->met_ns;

	return x < y ? -1 : x > y;
}

/* Who remembers the number finds that it is no file's any more. */
static void leave(struct system_numbers *n, uint32_t number)
{
	struct stack_image *image = &n->images[STACK_ROWS_SLOT(number)];
	uint32_t next = STACK_ROWS_GENERATION(number) + 1;

	__atomic_store_n(&image->generation, next % STACK_ROWS_GENERATIONS,
			 __ATOMIC_SEQ_CST);
	*vec_push(&n->leaving) = (struct leaving){ .number = number };
}

/* The file is met anew from now on. */
static void withdraw(struct system_numbers *n, const struct numbered *x)
{
	if (bpf_map_delete_elem(n->maps.files, &x->file) == 0)
		leave(n, x->number);
}

/* When two CPUs number a file at the same time one number is nobody's. */
static void reclaim_lost(struct system_numbers *n, const struct numbered *all,
			 size_t count, uint64_t now_ns)
{
	own(freep) bool *has_owner = xcalloc(SLOTS, sizeof(*has_owner));

	for (size_t i = 0; i < count; i++)
		has_owner[STACK_ROWS_SLOT(all[i].number)] = true;
	/* From where look() saw it: who took one since may not be in the list. */
	for (uint32_t i = n->n_taken; i != *n->maps.n_offered; i++)
		has_owner[STACK_ROWS_SLOT(n->offers[i % SLOTS])] = true;
	for (uint32_t i = STACK_RECORD_FILES; i < n->n_given; i++)
		if (!has_owner[i] && n->met_ns[i] &&
		    now_ns - n->met_ns[i] >= n->settings.idle_ns)
			leave(n, n->images[i].generation * SLOTS + i);
}

static void make_room(struct system_numbers *n, uint64_t now_ns)
{
	own(freep) struct numbered *all = xcalloc(SLOTS, sizeof(*all));
	size_t count = read_files(n, all);

	n->tried_ns = now_ns;
	reclaim_lost(n, all, count, now_ns);
	qsort(all, count, sizeof(*all), compare_met);
	for (size_t i = 0; i < count && i < n->settings.n_spare; i++) {
		if (now_ns - all[i].met_ns < n->settings.idle_ns)
			break;
		withdraw(n, &all[i]);
	}
}

static void offer(struct system_numbers *n, uint32_t number)
{
	uint32_t slot = STACK_ROWS_SLOT(number);
	uint32_t next = n->images[slot].generation * SLOTS + slot;

	n->settings.forget(n->settings.ctx, number);
	n->images[slot].is_used = 0;
	n->offers[*n->maps.n_offered % SLOTS] = next;
	__atomic_store_n(n->maps.n_offered, *n->maps.n_offered + 1, __ATOMIC_RELEASE);
	n->n_again++;
}

static void offer_what_left(struct system_numbers *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->leaving.n; i++) {
		struct leaving l = n->leaving.at[i];

		if (++l.drains >= DRAINS)
			offer(n, l.number);
		else
			n->leaving.at[kept++] = l;
	}
	n->leaving.n = kept;
}

void system_numbers_meet(struct system_numbers *n, uint32_t number)
{
	struct stack_image *image = &n->images[STACK_ROWS_SLOT(number)];

	if (image->generation == STACK_ROWS_GENERATION(number))
		__atomic_fetch_or(&image->is_used, STACK_IMAGE_IS_MET, __ATOMIC_RELAXED);
}

void system_numbers_tick(struct system_numbers *n, uint64_t now_ns)
{
	offer_what_left(n);
	if (now_ns - n->looked_ns < LOOK_NS)
		return;
	look(n, now_ns);
	if (!n->leaving.n && n_left(n) < n->settings.n_spare &&
	    now_ns - n->tried_ns >= n->settings.idle_ns / TRIES_PER_IDLE)
		make_room(n, now_ns);
}

uint64_t system_numbers_n_again(const struct system_numbers *n)
{
	return n->n_again;
}
