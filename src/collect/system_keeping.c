/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_keeping.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "host/clock.h"
#include "wire/stack_record.h"

#define LEDGER "ledger"
#define NOTES  "notes"
#define STATS  "stats" /* the sampler's map of that name */
#define REMOVED                                                                          \
	"what another version of dwell, or one with other settings, had left in the "    \
	"kernel was removed: "

struct system_keeping {
	const struct system_keeping_kind *kind;
	struct system_pins *pins;
	struct system_ledger *ledger;
	struct system_notes *notes;
	size_t n_rings;
	struct system_ledger_entry entry;
	struct system_rings_place *places;
	struct err refusal;
	char removed[240];
	uint64_t n_removed;
	char *name;
	int more[SYSTEM_KEEPING_MORE_MAX];
};

/* Since then what a program returns decides whether the event ends. */
static bool is_new_kernel(void)
{
	struct utsname u;
	unsigned major, minor;

	if (uname(&u) != 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return false;
	return major > 6 || (major == 6 && minor >= 10);
}

static bool is_more(const struct system_keeping *k, unsigned i)
{
	return k->kind->more[i].name != NULL;
}

struct system_keeping *system_keeping_new(const struct system_keeping_kind *kind,
					  const char *name, size_t n_rings)
{
	struct system_keeping *k = xcalloc(1, sizeof(*k));

	k->kind = kind;
	for (unsigned i = 0; i < SYSTEM_KEEPING_MORE_MAX; i++)
		k->more[i] = -1;
	k->n_rings = n_rings;
	k->places = xcalloc(n_rings, sizeof(*k->places));
	k->name = xasprintf("%s%s", name, kind->suffix);
	if (!is_new_kernel())
		err_set(&k->refusal, ERR_UNSUPPORTED,
			"Linux before 6.10 would never end what nobody asks for");
	else if (system_pins_open(k->name, &k->pins, &k->refusal) < 0)
		k->pins = NULL;
	return k;
}

static void close_all(struct system_keeping *k)
{
	system_ledger_free(k->ledger);
	system_notes_free(k->notes);
	system_pins_free(k->pins);
	for (unsigned i = 0; i < SYSTEM_KEEPING_MORE_MAX; i++)
		closep(&k->more[i]);
	k->ledger = NULL;
	k->notes = NULL;
	k->pins = NULL;
}

void system_keeping_free(struct system_keeping *k)
{
	if (!k)
		return;
	close_all(k);
	free(k->places);
	free(k->name);
	free(k);
}

void system_keeping_end(struct system_keeping *k, const struct err *why)
{
	if (k->pins)
		system_pins_clear(k->pins);
	system_ledger_free(k->ledger);
	system_pins_free(k->pins);
	k->ledger = NULL;
	k->pins = NULL;
	k->refusal = *why;
}

/* Others than constants, which are part of the programs. */
static bool is_kept(const struct bpf_map *map)
{
	return !strstr(bpf_map__name(map), ".rodata");
}

/* What there is. */

struct fds {
	VEC(int) all;
};

static void fds_fini(struct fds *f)
{
	vec_each(fd, &f->all)
		closep(fd);
	vec_fini(&f->all);
}

/* In the object's order; false: one is missing. */
static bool find_maps(const struct system_keeping *k, struct bpf_object *object,
		      struct fds *ret)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		int fd = is_kept(map) ? system_pins_get(k->pins, bpf_map__name(map)) : -1;

		*vec_push(&ret->all) = fd;
		if (fd < 0 && is_kept(map))
			return false;
	}
	return true;
}

/* By all CPUs since the maps were made; 0: it cannot be known. */
static uint64_t samples_taken(const struct system_pins *pins)
{
	own(closep) int fd = system_pins_get(pins, STATS);
	struct bpf_map_info info = { 0 };
	uint32_t size = sizeof(info);
	struct stack_record_stats s;
	uint64_t n = 0;

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &size) < 0 ||
	    info.type != BPF_MAP_TYPE_ARRAY || info.value_size != sizeof(s))
		return 0;
	for (uint32_t i = 0; i < info.max_entries; i++)
		if (bpf_map_lookup_elem(fd, &i, &s) == 0)
			n += s.samples;
	return n;
}

static uint64_t samples_left(const struct system_pins *pins,
			     const struct system_ledger_entry *last)
{
	uint64_t taken = samples_taken(pins);

	return taken >= last->samples ? taken - last->samples + last->unwritten : 0;
}

const struct system_keeping_kind system_keeping_samples = {
	.suffix = "",
	.what = "samples",
	.left = samples_left,
};

/* What is pinned cannot be gone on with: how much that loses. */
static uint64_t describe_removed(const struct system_keeping_kind *kind,
				 const struct system_pins *pins, size_t n_rings,
				 struct buf *text)
{
	struct system_ledger_entry last = { 0 };
	int fd = system_pins_get(pins, LEDGER);
	char n[TEXT_MAX];
	uint64_t left = 0;

	if (fd >= 0 && system_ledger_peek(fd, n_rings, &last))
		left = kind->left(pins, &last);
	buf_printf(text, REMOVED "%s %s since it was killed are lost",
		   left ? text_count(n, left) : "the", kind->what);
	return left;
}

static void note_removed(struct system_keeping *k)
{
	own(buf_fini) struct buf text = { 0 };

	k->n_removed = describe_removed(k->kind, k->pins, k->n_rings, &text);
	snprintf(k->removed, sizeof(k->removed), "%s", buf_str(&text));
}

static bool open_ledger(struct system_keeping *k, uint64_t layout)
{
	int fd = system_pins_get(k->pins, LEDGER);

	if (fd < 0)
		return false;
	if (system_ledger_open(fd, k->n_rings, layout, &k->ledger, NULL) < 0) {
		note_removed(k);
		return false;
	}
	return true;
}

static bool open_notes(struct system_keeping *k)
{
	int fd = system_pins_get(k->pins, NOTES);

	return fd >= 0 && system_notes_new(fd, &k->notes, NULL) == 0;
}

static bool open_more(struct system_keeping *k)
{
	bool are_there = true;

	for (unsigned i = 0; i < SYSTEM_KEEPING_MORE_MAX; i++) {
		if (is_more(k, i))
			k->more[i] = system_pins_get(k->pins, k->kind->more[i].name);
		are_there &= !is_more(k, i) || k->more[i] >= 0;
	}
	return are_there;
}

static bool reuse(struct bpf_object *object, const struct fds *fds)
{
	struct bpf_map *map;
	size_t i = 0;
	bool is_good = true;

	bpf_object__for_each_map(map, object)
	{
		int fd = fds->all.at[i++];

		if (fd >= 0)
			is_good &= bpf_map__reuse_fd(map, fd) == 0;
	}
	return is_good;
}

bool system_keeping_take(struct system_keeping *k, struct bpf_object *object,
			 uint64_t layout)
{
	own(fds_fini) struct fds fds = { 0 };

	if (!k->pins || !open_ledger(k, layout))
		return false;
	if (!open_notes(k) || !open_more(k) || !find_maps(k, object, &fds) ||
	    !reuse(object, &fds)) {
		note_removed(k);
		return false;
	}
	system_ledger_read(k->ledger, &k->entry, k->places);
	return true;
}

/* Who was killed before it began, or when it had ended, has left nothing that counts. */
static void give_up(struct system_keeping *k)
{
	note_removed(k);
	if (!k->n_removed)
		k->removed[0] = 0;
}

bool system_keeping_take_hooks(struct system_keeping *k, struct bpf_object *object,
			       uint64_t layout, const struct system_hook *hooks,
			       size_t n_hooks)
{
	bool are_there = k->pins && system_hooks_take(k->pins, hooks, n_hooks);

	if (are_there && system_keeping_take(k, object, layout)) {
		system_hooks_leave_out(hooks, n_hooks);
		return true;
	}
	if (are_there)
		system_hooks_let_go(hooks, n_hooks);
	else if (k->pins)
		give_up(k);
	return false;
}

/* What there is to be. */

static int pin_maps(struct system_keeping *k, struct bpf_object *object, struct err *e)
{
	struct bpf_map *map;
	int rc = 0;

	bpf_object__for_each_map(map, object)
	{
		if (rc == 0 && is_kept(map))
			rc = system_pins_put(k->pins, bpf_map__fd(map),
					     bpf_map__name(map), e);
	}
	return rc;
}

static int pin_more(struct system_keeping *k, struct err *e)
{
	int rc = 0;

	for (unsigned i = 0; rc == 0 && i < SYSTEM_KEEPING_MORE_MAX && is_more(k, i);
	     i++) {
		k->more[i] = k->kind->more[i].make(e);
		rc = k->more[i] < 0 ? k->more[i]
				    : system_pins_put(k->pins, k->more[i],
						      k->kind->more[i].name, e);
	}
	return rc;
}

/* The ledger is last: what has one is there as a whole. */
static int pin_all(struct system_keeping *k, struct bpf_object *object, uint64_t layout,
		   struct err *e)
{
	int rc = pin_maps(k, object, e);

	if (rc == 0)
		rc = pin_more(k, e);
	if (rc == 0)
		rc = system_notes_new(-1, &k->notes, e);
	if (rc == 0)
		rc = system_pins_put(k->pins, system_notes_fd(k->notes), NOTES, e);
	if (rc == 0)
		rc = system_ledger_new(k->n_rings, &k->ledger, e);
	if (rc < 0)
		return rc;
	system_ledger_write(k->ledger, &k->entry, k->places);
	system_ledger_seal(k->ledger, layout);
	return system_pins_put(k->pins, system_ledger_fd(k->ledger), LEDGER, e);
}

void system_keeping_begin(struct system_keeping *k, struct bpf_object *object,
			  uint64_t layout)
{
	struct err why = { 0 };
	int rc;

	if (!k->pins)
		return;
	/* What could not be taken. */
	system_pins_clear(k->pins);
	close_all(k);
	rc = system_pins_open(k->name, &k->pins, &why);
	k->entry = (struct system_ledger_entry){
		.table = 1, .turn = 1, .written_ns = clock_read_ns(CLOCK_BOOTTIME)
	};
	if (rc == 0)
		rc = pin_all(k, object, layout, &why);
	if (rc < 0)
		system_keeping_end(k, &why);
}

struct system_ledger_entry *system_keeping_entry(struct system_keeping *k)
{
	return &k->entry;
}

struct system_rings_place *system_keeping_places(struct system_keeping *k)
{
	return k->places;
}

void system_keeping_write(struct system_keeping *k)
{
	k->entry.written_ns = clock_read_ns(CLOCK_BOOTTIME);
	if (k->ledger)
		system_ledger_write(k->ledger, &k->entry, k->places);
}

const struct system_pins *system_keeping_pins(const struct system_keeping *k)
{
	return k->pins;
}

struct system_notes *system_keeping_notes(const struct system_keeping *k)
{
	return k->notes;
}

const char *system_keeping_refusal(const struct system_keeping *k)
{
	return k->pins ? NULL : k->refusal.text;
}

const char *system_keeping_removed(const struct system_keeping *k, uint64_t *ret_samples)
{
	*ret_samples = k->n_removed;
	return k->removed;
}

int system_keeping_more(const struct system_keeping *k, unsigned i)
{
	return k->more[i];
}

/* Of what there is. */

struct last {
	size_t n_rings;
	struct system_ledger_entry *entry;
};

static void look_for_last(void *ctx, const char *full)
{
	own(system_pins_freep) struct system_pins *pins = NULL;
	struct last *l = ctx;
	struct system_ledger_entry one;
	int fd;

	if (system_pins_open(full, &pins, NULL) < 0)
		return;
	fd = system_pins_get(pins, LEDGER);
	if (fd >= 0 && system_ledger_peek(fd, l->n_rings, &one) && one.recording &&
	    one.written_ns > l->entry->written_ns)
		*l->entry = one;
}

bool system_keeping_last(const char *name, size_t n_rings,
			 struct system_ledger_entry *ret)
{
	struct last l = { n_rings, ret };

	*ret = (struct system_ledger_entry){ 0 };
	system_pins_each(name, look_for_last, &l);
	return ret->recording != 0;
}

bool system_keeping_drop(const struct system_keeping_kind *kind, const char *name,
			 size_t n_rings, struct buf *ret_text, uint64_t *ret_n)
{
	own(freep) char *full = xasprintf("%s%s", name, kind->suffix);
	own(system_pins_freep) struct system_pins *pins = NULL;

	if (!system_pins_are_there(full) || system_pins_open(full, &pins, NULL) < 0)
		return false;
	*ret_n = describe_removed(kind, pins, n_rings, ret_text);
	system_pins_clear(pins);
	return true;
}
