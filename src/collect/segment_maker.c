/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/segment_maker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/path_choice.h"
#include "base/text.h"
#include "collect/damaged_files.h"
#include "collect/segment_symbols.h"
#include "store/database.h"
#include "store/durable.h"
#include "store/recording.h"
#include "store/tally.h"

/* FROM-TO.closed.part, in seconds since 1970; no reader of the database looks at it. */
#define WAITING_SUFFIX ".closed.part"
#define OOM_SCORE      "1000"

struct maker {
	const struct segment_maker_settings *settings;
	struct database_writer *database;
	FILE *report;
};

char *segment_maker_waiting(const char *directory, int64_t from_s, int64_t to_s)
{
	return xasprintf("%s/%" PRId64 "-%" PRId64 WAITING_SUFFIX, directory, from_s,
			 to_s);
}

void segment_maker_yield(void)
{
	own(closep) int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	/* Where it is not to be had the kernel chooses as it likes. */
	if (fd >= 0 && write(fd, OOM_SCORE, strlen(OOM_SCORE)) < 0)
		errno = 0;
}

static bool times_of(const char *path, int64_t *from_s, int64_t *to_s)
{
	const char *name = strrchr(path, '/');

	return name && sscanf(name, "/%" SCNd64 "-%" SCNd64, from_s, to_s) == 2 &&
	       *from_s <= *to_s;
}

void segment_maker_want_fold(struct writer *w, const struct apart *apart)
{
	const struct {
		bool is_apart;
		const char *what;
	} all[] = { { apart->processes, "processes" },
		    { apart->threads, "threads" },
		    { apart->cpus, "cpus" } };
	struct buf text = { 0 };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].is_apart)
			buf_printf(&text, "%s%s", text.size ? ", " : "", all[i].what);
	writer_info(w, SEGMENT_MAKER_APART, text.size ? buf_str(&text) : "names");
	if (apart->chosen)
		writer_info(w, SEGMENT_MAKER_CHOSEN, path_choice_text(apart->chosen));
	buf_fini(&text);
}

/* NULL: there is no choice. */
static struct path_choice *chosen_of(const struct recording *r)
{
	const char *list = recording_info(r, SEGMENT_MAKER_CHOSEN);
	own(path_choice_freep) struct path_choice *c = path_choice_new();

	if (!list || path_choice_add(c, list, NULL) < 0)
		return NULL;
	return steal(&c);
}

/* False: the recording is as the segment is to be. */
static bool wants_fold(const struct recording *r, struct tally_fold *ret)
{
	const char *apart = recording_info(r, SEGMENT_MAKER_APART);

	if (!apart)
		return false;
	*ret = (struct tally_fold){ .processes = !strstr(apart, "processes"),
				    .threads = !strstr(apart, "threads"),
				    .cpus = !strstr(apart, "cpus") };
	return true;
}

/* *ret is empty when there is nothing in it to keep. */
static int read_waiting(const char *path, struct tally **ret, struct err *e)
{
	own(recording_freep) struct recording *r = NULL;
	own(tally_freep) struct tally *t = tally_new();
	own(path_choice_freep) struct path_choice *chosen = NULL;
	struct tally_fold fold;
	int rc = recording_open(path, &r, e);

	if (rc < 0)
		return rc;
	if (wants_fold(r, &fold)) {
		fold.chosen = chosen = chosen_of(r);
		rc = tally_add_recording(t, r, &fold, e);
	} else {
		rc = tally_add_recording(t, r, NULL, e);
	}
	if (rc < 0)
		return rc;
	if (tally_n_samples(t))
		segment_symbols_add(t, r);
	*ret = steal(&t);
	return 0;
}

/* The recording goes when the segment is safe. */
static int remove_waiting(const struct maker *m, const char *path, struct err *e)
{
	if (unlink(path) != 0)
		return err_os(e, "cannot remove '%s'", path);
	return durable_sync(database_writer_directory(m->database), e);
}

/* What cannot be read now will not be readable later: it is out of the way, and there for
 * whoever wants to know. */
static int set_aside(const struct maker *m, const char *path, const struct err *why,
		     struct err *e)
{
	int n = (int)(strlen(path) - strlen(WAITING_SUFFIX));
	own(freep) char *aside = xasprintf("%.*s" DAMAGED_FILES_SUFFIX, n, path);
	char safe[sizeof(why->text) * 4];

	if (rename(path, aside) != 0)
		return err_os(e, "cannot rename '%s'", path);
	fprintf(m->report,
		SEGMENT_MAKER_ERROR " what was taken is damaged and kept as %s: %s\n",
		strrchr(aside, '/') + 1, text_printable(safe, sizeof(safe), why->text));
	return durable_sync(database_writer_directory(m->database), e);
}

static int add(struct maker *m, const char *path, struct err *e)
{
	struct err why = { 0 };

	own(tally_freep) struct tally *t = NULL;
	int64_t from_s, to_s;
	int rc;

	if (!times_of(path, &from_s, &to_s))
		return 0; /* nobody's here */
	rc = read_waiting(path, &t, &why);
	if (rc == ERR_FORMAT || rc == ERR_UNSUPPORTED)
		return set_aside(m, path, &why, e);
	if (rc < 0 && e)
		*e = why;
	if (rc == 0 && tally_n_samples(t)) {
		rc = database_writer_add(m->database, t, from_s, to_s, e);
		if (rc == 0)
			fputs(SEGMENT_MAKER_MADE "\n", m->report);
	}
	return rc < 0 ? rc : remove_waiting(m, path, e);
}

static int is_waiting(const struct dirent *entry)
{
	return text_ends(entry->d_name, WAITING_SUFFIX);
}

size_t segment_maker_n_waiting(const char *directory)
{
	struct dirent **found;
	int n = scandir(directory, &found, is_waiting, NULL);

	for (int i = 0; i < n; i++)
		free(found[i]);
	if (n >= 0)
		free(found);
	return n > 0 ? (size_t)n : 0;
}

static int add_all(struct maker *m, struct err *e)
{
	const char *directory = database_writer_directory(m->database);
	struct dirent **found;
	int n = scandir(directory, &found, is_waiting, alphasort), rc = 0;

	if (n < 0)
		return err_os(e, "cannot read '%s'", directory);
	for (int i = 0; i < n; i++) {
		own(freep) char *path = xasprintf("%s/%s", directory, found[i]->d_name);

		rc = rc < 0 ? rc : add(m, path, e);
		free(found[i]);
	}
	free(found);
	return rc;
}

/* Who waits for what was taken need not wait for this. */
static void tell_added(const struct maker *m)
{
	fputs(SEGMENT_MAKER_ADDED "\n", m->report);
	fflush(m->report);
	setpriority(PRIO_PROCESS, 0, SEGMENT_MAKER_NICE);
}

static int merge(struct maker *m, struct err *e)
{
	struct database_merge merge = { 0 };
	int64_t now_s = (int64_t)time(NULL);
	bool did = true;
	int rc = 0;

	while (rc == 0 && did)
		rc = database_writer_merge(m->database, &merge, now_s, &did, e);
	return rc;
}

static uint64_t segments_bytes(const struct maker *m)
{
	own(database_freep) struct database *d = NULL;
	const char *host = strrchr(database_writer_directory(m->database), '/') + 1;

	if (database_open_host(m->settings->database, host, &d, NULL) < 0)
		return 0;
	return database_bytes(d);
}

static int retain(struct maker *m, struct err *e)
{
	const struct database_retention *r = &m->settings->retention;
	int64_t now_s = (int64_t)time(NULL);
	uint64_t n_removed;
	int rc = damaged_files_retain(database_writer_directory(m->database), r,
				      segments_bytes(m), now_s, e);

	return rc < 0 ? rc : database_writer_retain(m->database, r, now_s, &n_removed, e);
}

int segment_maker_run(const struct segment_maker_settings *settings, FILE *report,
		      struct err *e)
{
	struct maker m = { .settings = settings, .report = report };
	int rc = database_writer_open_locked(settings->database, settings->host,
					     settings->lock, &m.database, e);
	int rc2;

	if (rc < 0)
		return rc;
	if (database_writer_continue(m.database))
		rc = add_all(&m, e);
	if (rc == 0)
		tell_added(&m);
	/* Also where nothing can be added, for the disk may be full; and before merging,
	 * which may be ended. */
	rc2 = retain(&m, rc < 0 ? NULL : e);
	rc = rc < 0 ? rc : rc2;
	if (rc == 0)
		rc = merge(&m, e);
	database_writer_close(m.database);
	return rc;
}
