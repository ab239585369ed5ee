/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database_query.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/moment.h"
#include "base/text.h"
#include "store/epoch_word.h"
#include "store/recording.h"

/* A segment that is gone was merged since the look: look again. */
#define MAX_TRIES 8

void database_answer_fini(struct database_answer *a)
{
	if (a->database && a->fd >= 0)
		close(a->fd);
	database_free(a->database);
	free(a->chosen);
	free(a->path);
	free(a->name);
	vec_each(line, &a->problems)
		free(*line);
	vec_fini(&a->problems);
	*a = (struct database_answer){ .fd = -1 };
}

/* What the path leaves to choose: it may be the database, or one host's or one epoch's
 * directory in it. */
struct place {
	char *database, *host;
	uint32_t epoch; /* 0: any */
};

static void place_fini(struct place *p)
{
	free(p->database);
	free(p->host);
}

static bool has_file(const char *directory, const char *name)
{
	own(freep) char *path = xasprintf("%s/%s", directory, name);

	return access(path, F_OK) == 0;
}

/* The path without its last name, which becomes *ret_name. */
static char *split(const char *path, char **ret_name)
{
	char *whole = realpath(path, NULL);
	char *slash = whole ? strrchr(whole, '/') : NULL;

	if (!slash || slash == whole) {
		free(whole);
		return NULL;
	}
	*ret_name = xstrdup(slash + 1);
	*slash = '\0';
	return whole;
}

static struct place find_place(const char *path)
{
	struct place p = { 0 };
	own(freep) char *number = NULL;
	own(freep) char *host = NULL;

	if (has_file(path, MANIFEST_FILE)) {
		host = split(path, &number);
		if (host)
			p.database = split(host, &p.host);
		p.epoch = number ? (uint32_t)strtoul(number, NULL, 10) : 0;
	} else if (has_file(path, DATABASE_LOCK_FILE)) {
		p.database = split(path, &p.host);
	}
	if (!p.database)
		p.database = xstrdup(path);
	return p;
}

static bool is_listed(const char *const *list, const char *name)
{
	if (!list)
		return true;
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

/* How many epochs of the same host are behind this one. */
static size_t behind(const struct database *d, size_t epoch)
{
	size_t n = 0;

	while (epoch + n + 1 < d->epochs.n &&
	       strcmp(d->epochs.at[epoch + n + 1].host, d->epochs.at[epoch].host) == 0)
		n++;
	return n;
}

static bool wants_epoch(const struct database_query *q, const struct place *p,
			const struct database *d, size_t epoch)
{
	const struct database_epoch *ep = &d->epochs.at[epoch];
	const struct epoch_word_epoch named = { .number = ep->number,
						.n_newer = behind(d, epoch),
						.label = ep->has_manifest
								 ? ep->manifest.label
								 : NULL };
	bool is_one = !q->epochs;

	if ((p->host && strcmp(p->host, ep->host) != 0) ||
	    (p->epoch && p->epoch != ep->number) || !is_listed(q->hosts, ep->host))
		return false;
	if (q->label && (!ep->has_manifest || strcmp(ep->manifest.label, q->label) != 0))
		return false;
	for (const char *const *word = q->epochs; word && *word && !is_one; word++)
		is_one = epoch_word_names(*word, &named);
	return is_one;
}

static void choose_segment(const struct database_query *q, struct database_answer *a,
			   size_t i)
{
	const struct segment_name *n = &a->database->segments.at[i].name;
	int64_t until = q->until_s ? q->until_s : INT64_MAX;

	/* One second is the shortest there is. */
	if (n->from_s >= until || (n->to_s <= q->since_s && n->from_s < q->since_s))
		return;
	a->n_cut += n->from_s < q->since_s || n->to_s > until;
	if (!a->n_chosen || n->from_s < a->from_s)
		a->from_s = n->from_s;
	if (!a->n_chosen || n->to_s > a->to_s)
		a->to_s = n->to_s;
	a->chosen[a->n_chosen++] = i;
}

/* Which hosts and epochs, as far as one word can tell. */
static char *name_of(const struct database_answer *a)
{
	const struct database *d = a->database;
	const struct database_segment *s = d->segments.at;
	const struct database_epoch *first = &d->epochs.at[s[a->chosen[0]].epoch];
	const struct database_epoch *last =
		&d->epochs.at[s[a->chosen[a->n_chosen - 1]].epoch];

	if (first == last)
		return xasprintf("%s-%04u", first->host, first->number);
	if (strcmp(first->host, last->host) == 0)
		return xasprintf("%s-%04u-%04u", first->host, first->number,
				 last->number);
	return xstrdup("hosts");
}

static int nothing(const struct database_query *q, const struct database *d,
		   struct err *e)
{
	int64_t from = INT64_MAX, to = 0;
	char a[MOMENT_MAX], b[MOMENT_MAX], epochs[TEXT_MAX], hosts[TEXT_MAX];

	if (!d->segments.n)
		return err_set(e, ERR_FORMAT,
			       "'%s' has no segments: it is no database, "
			       "or nothing has been written yet",
			       q->path);
	vec_each(s, &d->segments) {
		from = s->name.from_s < from ? s->name.from_s : from;
		to = s->name.to_s > to ? s->name.to_s : to;
	}
	return err_set(e, ERR_USAGE,
		       "nothing of that in '%s': it has %s of %s, from %s to %s "
		       "('dwell db ls' lists them)",
		       q->path, text_number(epochs, d->epochs.n, "epochs"),
		       text_number(hosts, d->hosts.n, "hosts"), moment_text(a, from),
		       moment_text(b, to));
}

static void add_problem(struct database_answer *a, const char *path, const char *what)
{
	if (strncmp(what, path, strlen(path)) == 0)
		*vec_push(&a->problems) = xstrdup(what);
	else
		*vec_push(&a->problems) = xasprintf("%s: %s", path, what);
}

int database_query_choose(const struct database_query *q, struct database_answer *ret,
			  struct err *e)
{
	own(database_answer_fini) struct database_answer a = { .fd = -1 };
	own(place_fini) struct place p = find_place(q->path);
	int rc = p.host ? database_open_host(p.database, p.host, &a.database, e)
			: database_open(p.database, &a.database, e);

	if (rc < 0)
		return rc;

	struct database *d = a.database;

	a.chosen = xcalloc(d->segments.n + 1, sizeof(*a.chosen));
	for (size_t i = 0; i < d->epochs.n; i++) {
		const struct database_epoch *ep = &d->epochs.at[i];

		if (!wants_epoch(q, &p, d, i))
			continue;
		if (!ep->has_manifest)
			add_problem(&a, ep->path, ep->problem);
		for (size_t k = 0; k < ep->n_segments; k++)
			choose_segment(q, &a, ep->first_segment + k);
	}
	if (!a.n_chosen)
		return nothing(q, d, e);
	a.name = name_of(&a);
	*ret = a;
	a = (struct database_answer){ .fd = -1 };
	return 0;
}

/* Of a recording the images that are wanted, by id; NULL: all. */
static bool *wanted_images(const struct recording *r, const struct recording_part *part)
{
	uint32_t n = recording_n_images(r);
	bool *wanted = part->image ? xcalloc((size_t)n + 1, sizeof(*wanted)) : NULL;

	for (uint32_t i = 0; wanted && i < n; i++)
		wanted[i] = recording_part_has_image(part, r, i);
	return wanted;
}

/* What a damaged segment still has counts; what is no segment at all does not. */
static int add_segment(const struct database_query *q, struct database_answer *a,
		       size_t i, struct tally *t, struct tally_fold fold, struct err *e)
{
	own(recording_freep) struct recording *r = NULL;
	own(freep) bool *images = NULL;
	const char *path = a->database->segments.at[i].path;
	struct err why = { 0 };
	int rc = q->part.image ? recording_open_part(path, &q->part, &r, &why)
			       : recording_open(path, &r, &why);

	if (rc == 0 && recording_damage(r))
		add_problem(a, path, recording_damage(r));
	if (rc == 0) {
		fold.images = images = wanted_images(r, &q->part);
		a->n_bytes += recording_bytes(r);
		a->n_read_bytes += recording_read_bytes(r);
		rc = tally_add_recording(t, r, &fold, &why);
	}
	if (rc == ERR_FORMAT || rc == ERR_UNSUPPORTED) {
		add_problem(a, path, why.text);
		return 0;
	}
	if (rc < 0 && e)
		*e = why;
	return rc;
}

static bool has_several_epochs(const struct database_answer *a)
{
	const struct database_segment *s = a->database->segments.at;

	return s[a->chosen[0]].epoch != s[a->chosen[a->n_chosen - 1]].epoch;
}

static int add_chosen(const struct database_query *q, struct database_answer *a,
		      struct tally *t, struct err *e)
{
	const struct tally_fold fold = { .origin = has_several_epochs(a) };
	int rc = 0;

	for (size_t i = 0; i < a->n_chosen && rc == 0; i++)
		rc = add_segment(q, a, a->chosen[i], t, fold, e);
	return rc;
}

int database_query_tally(const struct database_query *q, struct tally *t,
			 struct database_answer *ret, struct err *e)
{
	struct err why = { 0 };
	int rc = ERR_OS;

	for (int i = 0; i < MAX_TRIES; i++) {
		own(database_answer_fini) struct database_answer a = { .fd = -1 };

		tally_clear(t);
		rc = database_query_choose(q, &a, &why);
		if (rc == 0)
			rc = add_chosen(q, &a, t, &why);
		if (rc == 0) {
			*ret = a;
			a = (struct database_answer){ .fd = -1 };
			return 0;
		}
		if (rc != ERR_OS || why.os != ENOENT)
			break;
	}
	if (e)
		*e = why;
	return rc;
}

/* A file that nobody else sees and that goes with its descriptor. */
static int write_unnamed(const struct tally *t, const char *name, int *ret_fd,
			 struct err *e)
{
	const char *base = getenv("TMPDIR");
	own(freep) char *directory =
		xasprintf("%s/dwell-XXXXXX", base && *base ? base : "/tmp");
	own(freep) char *path = NULL;
	int rc, fd = -1;

	if (!mkdtemp(directory))
		return err_os(e, "cannot create '%s'", directory);
	path = xasprintf("%s/%s.dwell", directory, name);
	rc = tally_write(t, path, NULL, e);
	if (rc == 0)
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (rc == 0 && fd < 0)
		rc = err_os(e, "cannot open '%s'", path);
	unlink(path);
	rmdir(directory);
	*ret_fd = fd;
	return rc;
}

static bool is_there(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

/* One segment is opened as it is, unless it has been merged since. */
static bool load_one(const struct database_query *q, struct database_answer *ret)
{
	own(database_answer_fini) struct database_answer a = { .fd = -1 };

	if (database_query_choose(q, &a, NULL) < 0 || a.n_chosen != 1)
		return false;

	const char *path = a.database->segments.at[a.chosen[0]].path;

	/* Held open, it stays what it is. */
	a.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (a.fd < 0 || !is_there(path))
		return false;
	a.path = xasprintf("/proc/self/fd/%d", a.fd);
	*ret = a;
	a = (struct database_answer){ .fd = -1 };
	return true;
}

int database_query_load(const struct database_query *q, struct database_answer *ret,
			struct err *e)
{
	own(tally_freep) struct tally *t = tally_new();
	own(database_answer_fini) struct database_answer a = { .fd = -1 };
	int rc;

	if (!q->part.image && load_one(q, ret))
		return 0;
	rc = database_query_tally(q, t, &a, e);
	if (rc == 0)
		rc = write_unnamed(t, a.name, &a.fd, e);
	if (rc < 0)
		return rc;
	a.path = xasprintf("/proc/self/fd/%d", a.fd);
	*ret = a;
	a = (struct database_answer){ .fd = -1 };
	return 0;
}
