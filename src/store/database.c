/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "store/durable.h"

/* Two listings that agree saw no merge in between. */
#define MAX_LOOKS 10

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

struct names {
	VEC(char *) list;
};

static void names_fini(struct names *n)
{
	vec_each(name, &n->list)
		free(*name);
	vec_fini(&n->list);
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted; of what begins with a dot only what a writer left half done. */
static int list_once(const char *path, struct names *ret, struct err *e)
{
	own(close_dir) DIR *d = opendir(path);
	struct dirent *entry;

	if (!d)
		return err_os(e, "cannot open '%s'", path);
	for (errno = 0; (entry = readdir(d)); errno = 0)
		if (entry->d_name[0] != '.' || durable_is_temporary(entry->d_name))
			*vec_push(&ret->list) = xstrdup(entry->d_name);
	if (errno)
		return err_os(e, "cannot read '%s'", path);
	if (ret->list.n)
		qsort(ret->list.at, ret->list.n, sizeof(*ret->list.at), compare_texts);
	return 0;
}

static bool are_same(const struct names *a, const struct names *b)
{
	if (a->list.n != b->list.n)
		return false;
	for (size_t i = 0; i < a->list.n; i++)
		if (strcmp(a->list.at[i], b->list.at[i]) != 0)
			return false;
	return true;
}

/* Reading a directory takes time, in which a merged segment may appear behind the place
 * that was read, and its inputs vanish in front of it. */
static int list_stable(const char *path, struct names *ret, struct err *e)
{
	int rc = list_once(path, ret, e);

	for (int i = 0; i < MAX_LOOKS && rc == 0; i++) {
		own(names_fini) struct names again = { 0 };

		rc = list_once(path, &again, e);
		if (rc < 0 || are_same(ret, &again))
			break;

		struct names was = *ret;

		*ret = again;
		again = was;
	}
	return rc;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Wider than whatever it lies in comes first. */
static int compare_segments(const void *a, const void *b)
{
	const struct database_segment *x = a, *y = b;

	if (x->name.first != y->name.first)
		return x->name.first < y->name.first ? -1 : 1;
	if (x->name.last != y->name.last)
		return x->name.last > y->name.last ? -1 : 1;
	return strcmp(x->path, y->path);
}

static void add_segment(struct database *d, const char *directory, const char *name)
{
	struct segment_name n;
	struct stat st;

	if (strcmp(name, MANIFEST_FILE) == 0)
		return;
	if (durable_is_temporary(name)) {
		*vec_push(&d->leftovers) = xasprintf("%s/%s", directory, name);
		return;
	}
	if (!segment_name_parse(name, &n)) {
		d->n_foreign++;
		return;
	}

	char *path = xasprintf("%s/%s", directory, name);

	if (stat(path, &st) != 0)
		st.st_size = 0; /* merged meanwhile: who opens it learns that */
	*vec_push(&d->segments) = (struct database_segment){
		.path = path,
		.name = n,
		.bytes = (uint64_t)st.st_size,
		.epoch = d->epochs.n - 1,
	};
}

/* Drops what another one holds as well: inputs of a merge that is done. */
static void drop_covered(struct database *d, size_t first)
{
	size_t n = first;

	for (size_t i = first; i < d->segments.n; i++) {
		struct database_segment *s = &d->segments.at[i];

		if (n > first &&
		    segment_name_covers(&d->segments.at[n - 1].name, &s->name)) {
			*vec_push(&d->leftovers) = s->path;
			continue;
		}
		d->segments.at[n++] = *s;
	}
	d->segments.n = n;
}

static void describe_epoch(struct database *d, struct database_epoch *ep)
{
	ep->n_segments = d->segments.n - ep->first_segment;
	ep->from_s = ep->manifest.start_s;
	ep->to_s = ep->manifest.end_s ? ep->manifest.end_s : ep->from_s;
	for (size_t i = ep->first_segment; i < d->segments.n; i++) {
		const struct database_segment *s = &d->segments.at[i];

		ep->bytes += s->bytes;
		if (i == ep->first_segment || s->name.from_s < ep->from_s)
			ep->from_s = s->name.from_s;
		if (i == ep->first_segment || s->name.to_s > ep->to_s)
			ep->to_s = s->name.to_s;
	}
}

static int add_epoch(struct database *d, const char *host, const char *directory,
		     uint32_t number, struct err *e)
{
	struct err why = { 0 };
	size_t first = d->segments.n;

	*vec_push(&d->epochs) = (struct database_epoch){
		.path = xstrdup(directory),
		.host = host,
		.number = number,
		.first_segment = first,
	};

	struct database_epoch *ep = &d->epochs.at[d->epochs.n - 1];
	own(names_fini) struct names names = { 0 };
	int rc = list_stable(directory, &names, e);

	if (rc < 0)
		return rc;
	ep->has_manifest = manifest_read(directory, &ep->manifest, &why) == 0;
	if (!ep->has_manifest)
		snprintf(ep->problem, sizeof(ep->problem), "%.199s", why.text);
	vec_each(name, &names.list)
		add_segment(d, directory, *name);
	if (d->segments.n > first)
		qsort(d->segments.at + first, d->segments.n - first,
		      sizeof(*d->segments.at), compare_segments);
	drop_covered(d, first);
	describe_epoch(d, ep);
	return 0;
}

/* Written one way only, so that no epoch is there twice. */
static bool parse_number(const char *s, uint32_t *ret)
{
	unsigned long v = strtoul(s, NULL, 10);
	char again[16];

	if (!v || v >= UINT32_MAX)
		return false;
	snprintf(again, sizeof(again), "%04lu", v);
	*ret = (uint32_t)v;
	return strcmp(s, again) == 0;
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int add_host(struct database *d, const char *name, const char *directory,
		    struct err *e)
{
	own(names_fini) struct names names = { 0 };
	VEC(uint32_t) numbers = { 0 };
	int rc = list_once(directory, &names, e);
	char *host = xstrdup(name);

	*vec_push(&d->hosts) = host;
	vec_each(n, &names.list) {
		uint32_t number;

		if (parse_number(*n, &number))
			*vec_push(&numbers) = number;
		else if (durable_is_temporary(*n))
			*vec_push(&d->leftovers) = xasprintf("%s/%s", directory, *n);
		else
			d->n_foreign += strcmp(*n, DATABASE_LOCK_FILE) != 0;
	}
	if (numbers.n)
		qsort(numbers.at, numbers.n, sizeof(*numbers.at), compare_numbers);
	for (size_t i = 0; i < numbers.n && rc == 0; i++) {
		own(freep) char *path = xasprintf("%s/%04u", directory, numbers.at[i]);

		if (is_directory(path))
			rc = add_epoch(d, host, path, numbers.at[i], e);
	}
	vec_fini(&numbers);
	return rc;
}

static int open_hosts(const char *path, const char *only, struct database **ret,
		      struct err *e)
{
	own(database_freep) struct database *d = xcalloc(1, sizeof(*d));
	own(names_fini) struct names names = { 0 };
	int rc = list_once(path, &names, e);

	d->path = xstrdup(path);
	for (size_t i = 0; i < names.list.n && rc == 0; i++) {
		const char *name = names.list.at[i];
		own(freep) char *directory = xasprintf("%s/%s", path, name);

		if (only && strcmp(only, name) != 0)
			continue;
		if (is_directory(directory))
			rc = add_host(d, name, directory, e);
		else
			d->n_foreign++;
	}
	if (rc < 0)
		return rc;
	*ret = steal(&d);
	return 0;
}

int database_open(const char *path, struct database **ret, struct err *e)
{
	return open_hosts(path, NULL, ret, e);
}

int database_open_host(const char *path, const char *host, struct database **ret,
		       struct err *e)
{
	own(freep) char *name = database_host_name(host);

	return open_hosts(path, name, ret, e);
}

void database_free(struct database *d)
{
	if (!d)
		return;
	vec_each(ep, &d->epochs)
		free(ep->path);
	vec_each(s, &d->segments)
		free(s->path);
	vec_each(host, &d->hosts)
		free(*host);
	vec_each(path, &d->leftovers)
		free(*path);
	vec_fini(&d->leftovers);
	vec_fini(&d->epochs);
	vec_fini(&d->segments);
	vec_fini(&d->hosts);
	free(d->path);
	free(d);
}

void database_freep(struct database **d)
{
	database_free(*d);
}

char *database_host_name(const char *host)
{
	char *name = xasprintf("%s", *host ? host : "unknown");

	for (char *c = name; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "0123456789-_.",
			    *c) ||
		    (c == name && *c == '.'))
			*c = '_';
	return name;
}

uint64_t database_bytes(const struct database *d)
{
	uint64_t bytes = 0;

	vec_each(ep, &d->epochs)
		bytes += ep->bytes;
	return bytes;
}
