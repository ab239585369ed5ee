/* SPDX-License-Identifier: Apache-2.0
 *
 * Merging and removing the segments of one host, a step at a time.
 *
 * A merged segment appears under a name that covers its inputs; these are removed when
 * the writer looks at the directory the next time, so that a reader who listed them finds
 * them for a while.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "store/database.h"
#include "store/database_writer_data.h"
#include "store/durable.h"
#include "store/tally_merge.h"

#define HOUR_S	  3600
#define DAY_HOURS 24
/* Merging takes some eight bytes of memory for each byte. */
#define MAX_BYTES (UINT64_C(8) << 20)
/* Of zstd: 12 takes twice as long for the last fiftieth. */
#define PACK_LEVEL 9

struct run {
	size_t first, n; /* segments */
};

static bool is_damaged(const struct database_writer *w, const char *path)
{
	for (size_t i = 0; i < w->damaged.n; i++)
		if (strcmp(w->damaged.at[i], path) == 0)
			return true;
	return false;
}

/* Segments that belong together begin in the same stretch of time; of an epoch that has
 * ended, all. */
static int64_t stretch_of(const struct database_segment *s, int64_t length_s)
{
	return length_s ? s->name.from_s / length_s : 0;
}

static bool is_passed(const struct database_segment *s, int64_t length_s, int64_t now_s)
{
	return !length_s || (s->name.from_s / length_s + 1) * length_s <= now_s;
}

/* The first run of two or more that may be merged. */
static bool find_run(const struct database_writer *w, const struct database *d,
		     const struct database_epoch *ep, int64_t length_s,
		     uint64_t max_bytes, int64_t now_s, struct run *ret)
{
	const size_t end = ep->first_segment + ep->n_segments;
	struct run run = { .first = ep->first_segment };
	uint64_t bytes = 0;

	for (size_t i = run.first; i < end; i++) {
		const struct database_segment *s = &d->segments.at[i];
		bool is_alone = is_damaged(w, s->path) || !is_passed(s, length_s, now_s);

		if (run.n && (is_alone || bytes + s->bytes > max_bytes ||
			      stretch_of(s, length_s) !=
				      stretch_of(&d->segments.at[run.first], length_s))) {
			if (run.n > 1)
				break;
			run.n = 0;
		}
		if (is_alone)
			continue;
		if (!run.n) {
			run.first = i;
			bytes = 0;
		}
		run.n++;
		bytes += s->bytes;
	}
	*ret = run;
	return run.n > 1;
}

static bool find_due(const struct database_writer *w, const struct database *d,
		     const struct database_merge *m, int64_t now_s, struct run *ret)
{
	const int64_t hour = m->hour_s ? m->hour_s : HOUR_S;
	const uint64_t max_bytes = m->max_bytes ? m->max_bytes : MAX_BYTES;

	vec_each(ep, &d->epochs) {
		bool is_written = w->is_open && ep->number == w->newest;

		if (!is_written && find_run(w, d, ep, 0, max_bytes, now_s, ret))
			return true;
		if (is_written &&
		    (find_run(w, d, ep, hour, max_bytes, now_s, ret) ||
		     find_run(w, d, ep, DAY_HOURS * hour, max_bytes, now_s, ret)))
			return true;
	}
	return false;
}

/* What is damaged stays as it is: the next plan goes around it. */
static int give_up(struct database_writer *w, const struct tally_merge *t, int rc)
{
	const char *culprit = tally_merge_culprit(t);

	if ((rc != ERR_FORMAT && rc != ERR_UNSUPPORTED) || !culprit)
		return rc;
	*vec_push(&w->damaged) = xstrdup(culprit);
	return 0;
}

static int merge_run(struct database_writer *w, const struct database *d,
		     const struct run *run, int level, struct err *e)
{
	own(tally_merge_freep) struct tally_merge *t = tally_merge_new();
	const struct database_segment *first = &d->segments.at[run->first];
	struct segment_name name = first->name;
	int rc = 0;

	for (size_t i = 0; i < run->n && rc == 0; i++) {
		const struct segment_name *next = &first[i].name;

		rc = tally_merge_add(t, first[i].path, e);
		name.last = next->last;
		name.from_s = next->from_s < name.from_s ? next->from_s : name.from_s;
		name.to_s = next->to_s > name.to_s ? next->to_s : name.to_s;
	}
	if (rc == 0)
		rc = database_writer_merged(w, d->epochs.at[first->epoch].number, t,
					    &name, level, e);
	return give_up(w, t, rc);
}

int database_writer_merge(struct database_writer *w, const struct database_merge *m,
			  int64_t now_s, bool *ret_did, struct err *e)
{
	static const struct database_merge defaults = { 0 };
	own(database_freep) struct database *d = NULL;
	struct run run;
	int rc = database_writer_look(w, &d, e);

	m = m ? m : &defaults;
	*ret_did = rc == 0 && find_due(w, d, m, now_s, &run);
	if (!*ret_did)
		return rc;
	return merge_run(w, d, &run, m->level ? m->level : PACK_LEVEL, e);
}

static int remove_segment(const struct database_segment *s, struct err *e)
{
	return unlink(s->path) == 0 ? 0 : err_os(e, "cannot remove '%s'", s->path);
}

/* An epoch without segments, but for the one that is written. */
static int remove_empty_epochs(const struct database_writer *w, const struct database *d,
			       const size_t *n_left, struct err *e)
{
	for (size_t i = 0; i < d->epochs.n; i++) {
		const struct database_epoch *ep = &d->epochs.at[i];
		own(freep) char *manifest = xasprintf("%s/" MANIFEST_FILE, ep->path);

		if (n_left[i] || ep->number == w->newest)
			continue;
		if ((ep->has_manifest && unlink(manifest) != 0) || rmdir(ep->path) != 0)
			return err_os(e, "cannot remove '%s'", ep->path);
	}
	return durable_sync(w->directory, e);
}

int database_writer_retain(struct database_writer *w, const struct database_retention *r,
			   int64_t now_s, uint64_t *ret_n_removed, struct err *e)
{
	own(database_freep) struct database *d = NULL;
	int rc = database_writer_look(w, &d, e);

	*ret_n_removed = 0;
	if (rc < 0)
		return rc;

	uint64_t bytes = database_bytes(d);
	own(freep) size_t *n_left = xcalloc(d->epochs.n + 1, sizeof(*n_left));

	for (size_t i = 0; i < d->epochs.n; i++)
		n_left[i] = d->epochs.at[i].n_segments;
	/* In the order of their epochs and numbers, which is that of their age. */
	for (size_t i = 0; i + 1 < d->segments.n && rc == 0; i++) {
		const struct database_segment *s = &d->segments.at[i];
		bool is_old = r->max_age_s && s->name.to_s < now_s - r->max_age_s;

		if (!is_old && !(r->max_bytes && bytes > r->max_bytes))
			continue;
		rc = remove_segment(s, e);
		bytes -= s->bytes;
		n_left[s->epoch]--;
		*ret_n_removed += rc == 0;
	}
	return *ret_n_removed && rc == 0 ? remove_empty_epochs(w, d, n_left, e) : rc;
}
