/* SPDX-License-Identifier: Apache-2.0 */
#include "store/database_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/moment.h"
#include "store/database.h"
#include "store/database_lock.h"
#include "store/database_writer_data.h"
#include "store/durable.h"
#include "store/recording.h"
#include "store/tally_merge.h"

/* Of zstd.  Beside what is observed, 9 takes four times as long for the last thirtieth;
 * what stays is packed when its hour has passed. */
#define SEGMENT_LEVEL 3

/* A directory that was never finished has a MANIFEST or nothing in it. */
static void remove_leftover(const char *path)
{
	own(freep) char *manifest = xasprintf("%s/" MANIFEST_FILE, path);
	own(freep) char *temporary = durable_temporary(manifest);

	if (unlink(path) == 0 || (errno != EISDIR && errno != EPERM))
		return;
	unlink(temporary);
	unlink(manifest);
	rmdir(path);
}

int database_writer_look(struct database_writer *w, struct database **ret, struct err *e)
{
	struct database *d;
	int rc = database_open_host(w->path, w->host, &d, e);

	if (rc < 0)
		return rc;
	/* Temporaries stay: they may be a merge's, which another process of this writer
	 * is at. */
	vec_each(path, &d->leftovers)
		if (!durable_is_temporary(strrchr(*path, '/') + 1))
			unlink(*path);
	*ret = d;
	return 0;
}

/* What the newest epoch is, and which number is free in it. */
static void learn_newest(struct database_writer *w, const struct database *d)
{
	const struct database_epoch *ep =
		d->epochs.n ? &d->epochs.at[d->epochs.n - 1] : NULL;

	w->next_segment = 1;
	w->newest = ep ? ep->number : 0;
	if (!ep)
		return;
	w->manifest = ep->manifest;
	w->is_open = ep->has_manifest && !ep->manifest.end_s;
	if (ep->n_segments)
		w->next_segment = d->segments.at[d->segments.n - 1].name.last + 1;
}

static struct database_writer *new_writer(const char *path, const char *host)
{
	struct database_writer *w = xcalloc(1, sizeof(*w));
	own(freep) char *name = database_host_name(host);

	w->lock = -1;
	w->path = xstrdup(path);
	w->host = xstrdup(host);
	w->directory = xasprintf("%s/%s", path, name);
	return w;
}

/* What there is; what is half done goes. */
static int take_over(struct database_writer *w, struct err *e)
{
	own(database_freep) struct database *d = NULL;
	int rc = database_writer_look(w, &d, e);

	if (rc < 0)
		return rc;
	vec_each(leftover, &d->leftovers)
		remove_leftover(*leftover);
	learn_newest(w, d);
	return 0;
}

int database_writer_open(const char *path, const char *host, struct database_writer **ret,
			 struct err *e)
{
	own(database_writer_closep) struct database_writer *w = new_writer(path, host);
	int rc = durable_directory(path, e);

	if (rc == 0)
		rc = durable_directory(w->directory, e);
	if (rc == 0)
		rc = database_lock_take(w->directory, &w->lock, e);
	if (rc == 0)
		rc = take_over(w, e);
	if (rc < 0)
		return rc;
	*ret = steal(&w);
	return 0;
}

int database_writer_open_locked(const char *path, const char *host, int lock,
				struct database_writer **ret, struct err *e)
{
	own(database_writer_closep) struct database_writer *w = new_writer(path, host);
	int rc;

	w->lock = lock;
	rc = take_over(w, e);
	if (rc < 0)
		return rc;
	*ret = steal(&w);
	return 0;
}

void database_writer_close(struct database_writer *w)
{
	if (!w)
		return;
	closep(&w->lock);
	vec_each(path, &w->damaged)
		free(*path);
	vec_fini(&w->damaged);
	free(w->path);
	free(w->host);
	free(w->directory);
	free(w);
}

void database_writer_closep(struct database_writer **w)
{
	database_writer_close(*w);
}

bool database_writer_continue(struct database_writer *w)
{
	w->has_epoch = w->is_open;
	return w->has_epoch;
}

static char *epoch_directory(const struct database_writer *w, uint32_t number)
{
	return xasprintf("%s/%04" PRIu32, w->directory, number);
}

static int write_manifest(struct database_writer *w, const struct manifest *m,
			  struct err *e)
{
	own(freep) char *directory = epoch_directory(w, m->epoch);
	int rc = manifest_write(directory, m, e);

	if (rc == 0)
		w->manifest = *m;
	return rc;
}

int database_writer_end(struct database_writer *w, int64_t now_s, struct err *e)
{
	struct manifest m = w->manifest;
	int rc;

	if (!w->is_open)
		return 0;
	m.end_s = now_s > m.start_s ? now_s : m.start_s + 1;
	rc = write_manifest(w, &m, e);
	if (rc == 0)
		w->is_open = w->has_epoch = false;
	return rc;
}

/* The directory appears with its MANIFEST in it. */
static int make_epoch(const struct database_writer *w, const struct manifest *m,
		      struct err *e)
{
	own(freep) char *directory = epoch_directory(w, m->epoch);
	own(freep) char *temporary = durable_temporary(directory);
	int rc;

	remove_leftover(temporary);
	rc = durable_directory(temporary, e);
	if (rc == 0)
		rc = manifest_write(temporary, m, e);
	if (rc == 0 && rename(temporary, directory) != 0)
		rc = err_os(e, "cannot create '%s'", directory);
	if (rc < 0) {
		remove_leftover(temporary);
		return rc;
	}
	return durable_sync(w->directory, e);
}

int database_writer_begin(struct database_writer *w, const struct manifest *m,
			  struct err *e)
{
	struct manifest next = *m;
	int rc = database_writer_end(w, m->start_s, e);

	next.epoch = w->newest + 1;
	next.end_s = 0;
	manifest_set(next.host, w->host);
	manifest_set(next.label, m->label);
	manifest_set(next.version, DWELL_VERSION);
	if (rc == 0)
		rc = make_epoch(w, &next, e);
	if (rc < 0)
		return rc;
	w->manifest = next;
	w->newest = next.epoch;
	w->next_segment = 1;
	w->is_open = w->has_epoch = true;
	return 0;
}

int database_writer_label(struct database_writer *w, const char *label, struct err *e)
{
	struct manifest m = w->manifest;

	if (!w->has_epoch)
		return err_set(e, ERR_USAGE, "no epoch to label in '%s'", w->directory);
	manifest_set(m.label, label);
	return write_manifest(w, &m, e);
}

const struct manifest *database_writer_epoch(const struct database_writer *w)
{
	return w->has_epoch ? &w->manifest : NULL;
}

const char *database_writer_directory(const struct database_writer *w)
{
	return w->directory;
}

int database_writer_lock(const struct database_writer *w)
{
	return w->lock;
}

static void tell_seconds(struct tally *t, const char *key, int64_t s)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64, s * INT64_C(1000000000));
	tally_info(t, key, text);
}

/* What the segment says of itself, wherever it is copied to. */
static void describe(const struct database_writer *w, uint32_t epoch, struct tally *t,
		     const struct segment_name *name)
{
	char text[MOMENT_MAX];

	snprintf(text, sizeof(text), "%" PRIu32, epoch);
	tally_info(t, "host", w->host);
	tally_info(t, "epoch", text);
	tally_info(t, "start-time", moment_text(text, name->from_s));
	tally_info(t, "end-time", moment_text(text, name->to_s));
	tell_seconds(t, "start-realtime-ns", name->from_s);
	tell_seconds(t, "end-realtime-ns", name->to_s);
}

/* Either of a tally, or of what is merged. */
struct content {
	struct tally *tally;
	struct tally_merge *merge;
};

static int write_content(const struct content *c, const char *path, int level,
			 struct err *e)
{
	const struct tally_write_options options = { .level = level };

	return c->merge ? tally_merge_write(c->merge, path, &options, e)
			: tally_write(c->tally, path, &options, e);
}

static int put(struct database_writer *w, uint32_t epoch, const struct content *c,
	       const struct segment_name *name, int level, struct err *e)
{
	char file[SEGMENT_NAME_MAX];
	own(freep) char *directory = epoch_directory(w, epoch);
	own(freep) char *path =
		xasprintf("%s/%s", directory, segment_name_text(file, name));
	own(freep) char *temporary = durable_temporary(path);
	int rc;

	describe(w, epoch, c->tally, name);
	unlink(temporary);
	rc = write_content(c, temporary, level, e);
	if (rc < 0) {
		unlink(temporary);
		return rc;
	}
	return durable_commit(temporary, path, e);
}

int database_writer_merged(struct database_writer *w, uint32_t epoch,
			   struct tally_merge *merge, const struct segment_name *name,
			   int level, struct err *e)
{
	const struct content content = { tally_merge_front(merge), merge };

	return put(w, epoch, &content, name, level, e);
}

/* Is the newest segment made of that recording?  Whoever made it was killed before the
 * recording was removed. */
static bool has_added(const struct database_writer *w, const char *recording)
{
	static const struct recording_part nothing = { .event = "" };
	own(database_freep) struct database *d = NULL;
	own(recording_freep) struct recording *r = NULL;
	const char *newest;

	if (database_open_host(w->path, w->host, &d, NULL) < 0 || !d->segments.n ||
	    recording_open_part(d->segments.at[d->segments.n - 1].path, &nothing, &r,
				NULL) < 0)
		return false;
	newest = recording_info(r, DATABASE_WRITER_RECORDING);
	return newest && strcmp(newest, recording) == 0;
}

int database_writer_add(struct database_writer *w, struct tally *t, int64_t from_s,
			int64_t to_s, struct err *e)
{
	const char *recording = tally_info_get(t, DATABASE_WRITER_RECORDING);
	const struct segment_name name = {
		.from_s = from_s,
		.to_s = to_s < from_s ? from_s : to_s, /* the clock was set back */
		.first = w->next_segment,
		.last = w->next_segment,
	};
	int rc;

	if (!w->has_epoch)
		return err_set(e, ERR_USAGE, "no epoch to add to in '%s'", w->directory);
	if (recording && has_added(w, recording))
		return 0;
	rc = put(w, w->manifest.epoch, &(struct content){ .tally = t }, &name,
		 SEGMENT_LEVEL, e);
	if (rc == 0)
		w->next_segment++;
	return rc;
}
