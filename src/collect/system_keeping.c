/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_keeping.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/mem.h"
#include "base/vec.h"
#include "host/clock.h"

#define LEDGER "ledger"
#define NOTES  "notes"
#define REMOVED                                                                          \
	"what another version of dwell, or one with other settings, had left in the "    \
	"kernel was removed: the samples since it was killed are lost"

struct system_keeping {
	struct system_pins *pins;
	struct system_ledger *ledger;
	struct system_notes *notes;
	size_t n_rings;
	struct system_ledger_entry entry;
	struct system_rings_place *places;
	struct err refusal;
	const char *removed;
	char *name;
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

struct system_keeping *system_keeping_new(const char *name, size_t n_rings)
{
	struct system_keeping *k = xcalloc(1, sizeof(*k));

	k->n_rings = n_rings;
	k->places = xcalloc(n_rings, sizeof(*k->places));
	k->name = xstrdup(name);
	k->removed = "";
	if (!is_new_kernel())
		err_set(&k->refusal, ERR_UNSUPPORTED,
			"Linux before 6.10 would never end what nobody asks for");
	else if (system_pins_open(name, &k->pins, &k->refusal) < 0)
		k->pins = NULL;
	return k;
}

static void close_all(struct system_keeping *k)
{
	system_ledger_free(k->ledger);
	system_notes_free(k->notes);
	system_pins_free(k->pins);
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

static bool open_ledger(struct system_keeping *k, uint64_t layout)
{
	int fd = system_pins_get(k->pins, LEDGER);

	if (fd < 0)
		return false;
	if (system_ledger_open(fd, k->n_rings, layout, &k->ledger, NULL) < 0) {
		k->removed = REMOVED;
		return false;
	}
	return true;
}

static bool open_notes(struct system_keeping *k)
{
	int fd = system_pins_get(k->pins, NOTES);

	return fd >= 0 && system_notes_new(fd, &k->notes, NULL) == 0;
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
	if (!open_notes(k) || !find_maps(k, object, &fds) || !reuse(object, &fds)) {
		k->removed = REMOVED;
		return false;
	}
	system_ledger_read(k->ledger, &k->entry, k->places);
	return true;
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

/* The ledger is last: what has one is there as a whole. */
static int pin_all(struct system_keeping *k, struct bpf_object *object, uint64_t layout,
		   struct err *e)
{
	int rc = pin_maps(k, object, e);

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

const char *system_keeping_removed(const struct system_keeping *k)
{
	return k->removed;
}
