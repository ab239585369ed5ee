/* SPDX-License-Identifier: Apache-2.0 */
#include "store/tally.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "store/tally_data.h"

#define FIRST_CAP	 1024
#define STRING_MAX_BYTES (1u << 20) /* longer ones are cut */

const enum format_kind tally_lists[TALLY_N_LISTS] = {
	FORMAT_IMAGES, FORMAT_PROCESSES, FORMAT_THREADS, FORMAT_EVENTS, FORMAT_FACTS,
};

static void init(struct tally *t)
{
	*t = (struct tally){ .strings = intern_new() };
	for (size_t i = 0; i < TALLY_N_LISTS; i++) {
		t->keys[tally_lists[i]] = intern_new();
		record_list_init(&t->lists[tally_lists[i]], tally_lists[i]);
	}
	t->group_keys = intern_new();
	t->info_keys = intern_new();
	t->blob_keys = intern_new();
}

struct tally *tally_new(void)
{
	struct tally *t = xcalloc(1, sizeof(*t));

	init(t);
	return t;
}

static void drop_blobs(struct tally *t)
{
	vec_each(b, &t->blobs)
		free(b->data);
	vec_clear(&t->blobs);
}

static void drop_infos(struct tally *t)
{
	vec_each(value, &t->infos)
		free((char *)(uintptr_t)*value);
	vec_clear(&t->infos);
}

static void fini(struct tally *t)
{
	for (size_t i = 0; i < TALLY_N_LISTS; i++) {
		intern_free(t->keys[tally_lists[i]]);
		record_list_fini(&t->lists[tally_lists[i]]);
	}
	intern_free(t->strings);
	intern_free(t->group_keys);
	intern_free(t->info_keys);
	intern_free(t->blob_keys);
	location_table_fini(&t->locations);
	stack_table_fini(&t->stacks);
	drop_blobs(t);
	drop_infos(t);
	vec_fini(&t->groups);
	vec_fini(&t->rows);
	vec_fini(&t->periods);
	vec_fini(&t->extra);
	vec_fini(&t->infos);
	vec_fini(&t->blobs);
	tally_code_fini(&t->code);
	free(t->slots);
	buf_fini(&t->key);
}

void tally_free(struct tally *t)
{
	if (!t)
		return;
	fini(t);
	free(t);
}

void tally_freep(struct tally **t)
{
	tally_free(*t);
}

void tally_clear(struct tally *t)
{
	fini(t);
	init(t);
}

void tally_restart(struct tally *t)
{
	vec_clear(&t->rows);
	vec_clear(&t->extra);
	if (t->slots)
		memset(t->slots, 0, t->cap * sizeof(*t->slots));
	t->n_samples = 0;
	tally_code_fini(&t->code);
	drop_blobs(t);
	intern_free(t->blob_keys);
	t->blob_keys = intern_new();
	record_list_fini(&t->lists[FORMAT_FACTS]);
	record_list_init(&t->lists[FORMAT_FACTS], FORMAT_FACTS);
	intern_free(t->keys[FORMAT_FACTS]);
	t->keys[FORMAT_FACTS] = intern_new();
}

/* Dictionaries. */

uint32_t tally_strn(struct tally *t, const char *s, size_t n)
{
	return intern_add(t->strings, s, n < STRING_MAX_BYTES ? n : STRING_MAX_BYTES);
}

uint32_t tally_string(struct tally *t, const char *s)
{
	return s ? tally_strn(t, s, strlen(s)) : 0;
}

/* The id of the item with this key, made when there is none; an intern id is one more,
 * as 0 is "". */
static uint32_t intern_item(struct tally *t, enum format_kind kind, const void *key,
			    size_t size, const void *item)
{
	struct record_list *l = &t->lists[kind];
	uint32_t id = intern_add(t->keys[kind], key, size) - 1;

	return id < l->n ? id : record_list_add(l, item);
}

/* The key is the item as it would be written. */
static uint32_t intern_record(struct tally *t, enum format_kind kind, const void *key,
			      const void *item)
{
	buf_clear(&t->key);
	layout_encode(t->lists[kind].layout, 0, key, &t->key);
	return intern_item(t, kind, t->key.data, t->key.size, item);
}

uint32_t tally_image(struct tally *t, const struct model_image *image)
{
	struct model_image key = *image;

	key.host_path = 0; /* each container has another */
	if (key.build_id_size)
		key.size_bytes = key.mtime_s = 0;
	return intern_record(t, FORMAT_IMAGES, &key, image);
}

uint32_t tally_location(struct tally *t, uint32_t image, uint64_t offset, uint32_t flags)
{
	const struct model_location l = { .image = image,
					  .flags = flags,
					  .offset = offset };

	assert(image < t->lists[FORMAT_IMAGES].n);
	return location_table_add(&t->locations, &l);
}

uint32_t tally_stack(struct tally *t, uint32_t parent, uint32_t location)
{
	assert(parent <= t->stacks.n && location < t->locations.all.n);
	return stack_table_add(&t->stacks, parent, location);
}

/* Both texts, unless one has the other. */
static uint32_t join(struct tally *t, uint32_t a, uint32_t b)
{
	const char *x = intern_get(t->strings, a), *y = intern_get(t->strings, b);

	if (a == b || strstr(x, y))
		return a;
	if (strstr(y, x))
		return b;

	own(freep) char *both = xasprintf("%s, %s", x, y);

	return tally_string(t, both);
}

uint32_t tally_event(struct tally *t, const struct model_event *event)
{
	struct model_event key = *event;

	key.source = key.description = 0;
	key.period = 0;
	key.flags &= ~(uint32_t)EVENT_SUMMED; /* how it was collected, too */

	uint32_t id = intern_record(t, FORMAT_EVENTS, &key, event);
	struct model_event seen = *(const struct model_event *)record_list_get(
		&t->lists[FORMAT_EVENTS], id);

	if (id == t->periods.n)
		*vec_push(&t->periods) = event->period;
	seen.source = join(t, seen.source, event->source);
	seen.flags |= event->flags;
	if (seen.period != event->period)
		seen.period = 0;
	record_list_update(&t->lists[FORMAT_EVENTS], id, &seen);
	return id;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint32_t tally_process(struct tally *t, const struct model_process *process)
{
	struct model_process item = *process;

	item.parent = item.exec_of = MODEL_NONE;

	struct model_process key = item;

	key.start_ns = key.end_ns = 0;
	key.exit_status = -1;

	uint32_t id = intern_record(t, FORMAT_PROCESSES, &key, &item);
	struct model_process seen = *(const struct model_process *)record_list_get(
		&t->lists[FORMAT_PROCESSES], id);

	seen.start_ns = earlier(seen.start_ns, item.start_ns);
	seen.end_ns = later(seen.end_ns, item.end_ns);
	if (item.exit_status != -1)
		seen.exit_status = item.exit_status;
	record_list_update(&t->lists[FORMAT_PROCESSES], id, &seen);
	return id;
}

uint32_t tally_thread(struct tally *t, const struct model_thread *thread)
{
	struct model_thread key = *thread;

	assert(thread->process < t->lists[FORMAT_PROCESSES].n);
	key.start_ns = key.end_ns = 0;

	uint32_t id = intern_record(t, FORMAT_THREADS, &key, thread);
	struct model_thread seen = *(const struct model_thread *)record_list_get(
		&t->lists[FORMAT_THREADS], id);

	seen.start_ns = earlier(seen.start_ns, thread->start_ns);
	seen.end_ns = later(seen.end_ns, thread->end_ns);
	record_list_update(&t->lists[FORMAT_THREADS], id, &seen);
	return id;
}

/* Samples. */

static uint32_t find_group(struct tally *t, const struct model_sample *s)
{
	struct tally_group g = { s->event, s->thread, s->cpu };

	if (t->last_group_id && memcmp(&g, &t->last_group, sizeof(g)) == 0)
		return t->last_group_id - 1;

	uint32_t id = intern_add(t->group_keys, (const char *)&g, sizeof(g)) - 1;

	if (id == t->groups.n)
		*vec_push(&t->groups) = g;
	t->last_group = g;
	t->last_group_id = id + 1;
	return id;
}

static uint32_t *probe(const struct tally *t, uint32_t group, uint32_t stack)
{
	size_t mask = t->cap - 1;
	size_t i = hash_u64((uint64_t)group << 32 | stack) & mask;

	for (;; i = (i + 1) & mask) {
		uint32_t *slot = &t->slots[i];

		if (!*slot)
			return slot;

		const struct tally_row *row = &t->rows.at[*slot - 1];

		if (row->stack == stack && row->group == group)
			return slot;
	}
}

/* Of rows of the same key, which there are when a count grew too large, the last. */
static void grow(struct tally *t)
{
	t->cap = t->cap ? t->cap * 2 : FIRST_CAP;
	free(t->slots);
	t->slots = xcalloc(t->cap, sizeof(*t->slots));
	for (size_t i = 0; i < t->rows.n; i++)
		*probe(t, t->rows.at[i].group, t->rows.at[i].stack) = (uint32_t)i + 1;
}

static void add_weight(struct tally *t, uint32_t row, uint64_t extra)
{
	if (!extra && !t->extra.n)
		return;
	while (t->extra.n < t->rows.n)
		vec_push(&t->extra);
	t->extra.at[row] += extra;
}

void tally_sample(struct tally *t, const struct model_sample *s)
{
	assert(s->event < t->lists[FORMAT_EVENTS].n);
	assert(s->thread < t->lists[FORMAT_THREADS].n && s->stack <= t->stacks.n);
	if (t->rows.n * 8 >= t->cap * 5)
		grow(t);

	uint32_t group = find_group(t, s);
	uint32_t *slot = probe(t, group, s->stack);

	if (!*slot || t->rows.at[*slot - 1].count > UINT32_MAX - s->count) {
		*vec_push(&t->rows) = (struct tally_row){ group, s->stack, 0 };
		*slot = (uint32_t)t->rows.n;
	}
	t->rows.at[*slot - 1].count += s->count;
	t->n_samples += s->count;
	add_weight(t, *slot - 1, s->weight - s->count * t->periods.at[s->event]);
}

uint64_t tally_row_weight(const struct tally *t, uint32_t row)
{
	const struct tally_row *r = &t->rows.at[row];
	uint64_t period = t->periods.at[t->groups.at[r->group].event];

	return r->count * period + (row < t->extra.n ? t->extra.at[row] : 0);
}

/* Numbers of which several do not add up. */
static const char *const largest_facts[] = {
	"max-rss",	"requested-period", "requested-rate",	   "timer-tick",
	"shallow-cpus", "exit-status",	    "kernel-not-observed",
};

static bool is_sum(const struct tally *t, const struct model_fact *fact)
{
	const char *name = intern_get(t->strings, fact->name);

	for (size_t i = 0; i < sizeof(largest_facts) / sizeof(largest_facts[0]); i++)
		if (strcmp(name, largest_facts[i]) == 0)
			return false;
	return true;
}

void tally_fact(struct tally *t, const struct model_fact *fact)
{
	struct record_list *l = &t->lists[FORMAT_FACTS];
	struct model_fact key = *fact;
	uint32_t n = l->n;

	key.value = 0;
	key.unit = 0;

	uint32_t id = intern_record(t, FORMAT_FACTS, &key, fact);

	if (l->n > n)
		return; /* the first one */

	struct model_fact sum = *(const struct model_fact *)record_list_get(l, id);

	sum.value =
		is_sum(t, fact) ? sum.value + fact->value : later(sum.value, fact->value);
	record_list_update(l, id, &sum);
}

void tally_info(struct tally *t, const char *key, const char *value)
{
	uint32_t i = intern_str(t->info_keys, key);

	if (!i)
		return;
	if (i > t->infos.n)
		*vec_push(&t->infos) = NULL;
	free((char *)(uintptr_t)t->infos.at[i - 1]);
	t->infos.at[i - 1] = xstrdup(value ? value : "");
}

const char *tally_info_get(const struct tally *t, const char *key)
{
	uint32_t i = intern_find(t->info_keys, key, strlen(key));

	return i && i != UINT32_MAX ? t->infos.at[i - 1] : NULL;
}

void tally_blob(struct tally *t, const struct model_blob *blob, const void *data)
{
	const struct {
		uint64_t size, hash;
		uint32_t kind, name, image, zero;
	} key = { blob->size_bytes, hash_bytes(data, (size_t)blob->size_bytes),
		  blob->kind,	    blob->name,
		  blob->image,	    0 };
	uint32_t id = intern_add(t->blob_keys, (const char *)&key, sizeof(key)) - 1;

	if (id < t->blobs.n)
		return;
	*vec_push(&t->blobs) =
		(struct tally_blob){ *blob, xmemdup(data, (size_t)blob->size_bytes) };
}

/* Memory. */

size_t tally_bytes(const struct tally *t)
{
	size_t bytes = t->cap * sizeof(*t->slots) + t->rows.cap * sizeof(*t->rows.at) +
		       t->extra.cap * sizeof(*t->extra.at) +
		       t->locations.all.cap * sizeof(*t->locations.all.at) +
		       t->locations.cap * sizeof(*t->locations.slots) +
		       t->stacks.cap * sizeof(*t->stacks.slots) +
		       t->stacks.fresh.cap * sizeof(*t->stacks.fresh.at);

	bytes += intern_bytes(t->strings) + intern_bytes(t->group_keys) +
		 tally_code_bytes(&t->code);
	for (size_t i = 0; i < TALLY_N_LISTS; i++) {
		const struct record_list *l = &t->lists[tally_lists[i]];

		bytes += intern_bytes(t->keys[tally_lists[i]]) +
			 l->cap * (l->layout->item_size + 1);
	}
	vec_each(b, &t->blobs)
		bytes += (size_t)b->blob.size_bytes;
	return bytes;
}

uint64_t tally_n_samples(const struct tally *t)
{
	return t->n_samples;
}

size_t tally_n_rows(const struct tally *t)
{
	return t->rows.n;
}

uint32_t tally_leaf_image(const struct tally *t, uint32_t stack)
{
	return stack ? t->locations.all.at[t->stacks.fresh.at[stack - 1].location].image
		     : MODEL_NONE;
}
