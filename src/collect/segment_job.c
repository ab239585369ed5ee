/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/segment_job.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "store/recording.h"
#include "store/tally.h"

/* FROM-TO.closed.part, in seconds since 1970; no reader of the database looks at it. */
#define WAITING_SUFFIX ".closed.part"

struct segment_job {
	struct database_writer *database;
	struct database_retention retention;
	pthread_t thread;
	bool is_running;
	bool is_done; /* set by the thread, atomically */
	int rc;
	struct err e;
	uint64_t n_segments;
};

struct segment_job *segment_job_new(struct database_writer *w,
				    const struct database_retention *retention)
{
	struct segment_job *j = xcalloc(1, sizeof(*j));

	j->database = w;
	j->retention = *retention;
	return j;
}

void segment_job_free(struct segment_job *j)
{
	if (!j)
		return;
	if (j->is_running)
		pthread_join(j->thread, NULL);
	free(j);
}

void segment_job_freep(struct segment_job **j)
{
	segment_job_free(*j);
}

int segment_job_put(struct segment_job *j, const char *path, int64_t from_s, int64_t to_s,
		    struct err *e)
{
	own(freep) char *waiting =
		xasprintf("%s/%" PRId64 "-%" PRId64 WAITING_SUFFIX,
			  database_writer_directory(j->database), from_s, to_s);

	/* Of the same seconds there may be one that waits already. */
	while (access(waiting, F_OK) == 0) {
		free(waiting);
		waiting =
			xasprintf("%s/%" PRId64 "-%" PRId64 WAITING_SUFFIX,
				  database_writer_directory(j->database), from_s, ++to_s);
	}
	if (rename(path, waiting) != 0)
		return err_os(e, "cannot rename '%s'", path);
	return 0;
}

static bool times_of(const char *path, int64_t *from_s, int64_t *to_s)
{
	const char *name = strrchr(path, '/');

	return name && sscanf(name, "/%" SCNd64 "-%" SCNd64, from_s, to_s) == 2 &&
	       *from_s <= *to_s;
}

static int add(struct segment_job *j, const char *path, struct err *e)
{
	own(recording_freep) struct recording *r = NULL;
	own(tally_freep) struct tally *t = tally_new();
	int64_t from_s, to_s;
	int rc;

	if (!times_of(path, &from_s, &to_s))
		return 0; /* nobody's here */
	rc = recording_open(path, &r, e);
	if (rc == 0)
		rc = tally_add_recording(t, r, NULL, e);
	if (rc == 0 && tally_n_samples(t)) {
		rc = database_writer_add(j->database, t, from_s, to_s, e);
		j->n_segments += rc == 0;
	}
	/* What cannot be read now will not be readable later. */
	if (rc == 0 || rc == ERR_FORMAT)
		unlink(path);
	return rc == ERR_FORMAT ? 0 : rc;
}

static int add_all(struct segment_job *j, struct err *e)
{
	own(freep) char *pattern =
		xasprintf("%s/*" WAITING_SUFFIX, database_writer_directory(j->database));
	glob_t found;
	int rc = 0;

	if (glob(pattern, 0, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; rc == 0 && i < found.gl_pathc; i++)
		rc = add(j, found.gl_pathv[i], e);
	globfree(&found);
	return rc;
}

static int maintain(struct segment_job *j, struct err *e)
{
	struct database_merge m = { 0 };
	int64_t now_s = (int64_t)time(NULL);
	uint64_t n_removed;
	bool did = true;
	int rc = 0;

	while (rc == 0 && did)
		rc = database_writer_merge(j->database, &m, now_s, &did, e);
	if (rc < 0)
		return rc;
	return database_writer_retain(j->database, &j->retention, now_s, &n_removed, e);
}

static void *run(void *ctx)
{
	struct segment_job *j = ctx;

	j->rc = add_all(j, &j->e);
	if (j->rc == 0)
		j->rc = maintain(j, &j->e);
	malloc_trim(0); /* a segment's dictionaries were in memory */
	__atomic_store_n(&j->is_done, true, __ATOMIC_RELEASE);
	return NULL;
}

int segment_job_start(struct segment_job *j, struct err *e)
{
	sigset_t all, old;
	int rc;

	if (j->is_running)
		return 0;
	j->is_done = false;
	j->e = (struct err){ 0 };
	sigfillset(&all); /* signals are the daemon's own thread's business */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&j->thread, NULL, run, j);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc != 0) {
		errno = rc;
		return err_os(e, "cannot start a thread");
	}
	j->is_running = true;
	return 0;
}

static void finish(struct segment_job *j, int *ret_rc, struct err *e)
{
	pthread_join(j->thread, NULL);
	j->is_running = false;
	*ret_rc = j->rc;
	if (j->rc < 0 && e)
		*e = j->e;
}

bool segment_job_poll(struct segment_job *j, int *ret_rc, struct err *e)
{
	if (!j->is_running || !__atomic_load_n(&j->is_done, __ATOMIC_ACQUIRE))
		return false;
	finish(j, ret_rc, e);
	return true;
}

int segment_job_wait(struct segment_job *j, struct err *e)
{
	int rc = 0;

	if (j->is_running)
		finish(j, &rc, e);
	return rc;
}

uint64_t segment_job_n_segments(const struct segment_job *j)
{
	return j->n_segments;
}
