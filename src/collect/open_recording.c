/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/open_recording.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "collect/facts.h"
#include "collect/segment_job.h"
#include "collect/segment_maker.h"
#include "collect/session_notes.h"
#include "host/clock.h"
#include "host/kernel.h"
#include "host/procfs.h"
#include "store/database_writer.h"
#include "store/growing_file.h"

/* Beside the epochs; no reader of the database looks at it.  Where an earlier one is not
 * written yet there is a number in it. */
#define FILE_BEGIN "open."
#define FILE_END   "dwell.part"
/* What a killed daemon loses, where the recorder itself does not flush. */
#define FLUSH_NS UINT64_C(5000000000)
/* What waits is tried again. */
#define TRY_NS UINT64_C(1000000000)
/* No other is begun when so much waits: what is taken is lost then, and counted. */
#define WAITING_MAX (UINT64_C(8) << 20)

/* One that has ended, and its time. */
struct ended {
	struct growing_file file;
	struct segment_job_span span;
};

struct open_recording {
	const char *directory;
	char *path; /* NULL: of none yet */
	unsigned n_names;
	struct continuous_plans *plans;
	struct recorder *recorder;
	struct writer *writer; /* NULL: there is none */
	/* The recorder knows its file, and that nothing waits. */
	bool is_told;
	struct err why; /* something waits, code 0: nothing */
	uint64_t began_ns, flushed_ns;
	uint64_t began_boot_ns; /* of the clock that goes on while suspended */
	uint64_t asleep_before_ns;
	/* Those before it that could not be written in whole, the oldest first. */
	VEC(struct ended) ended;
};

struct open_recording *open_recording_new(const char *directory,
					  struct continuous_plans *plans)
{
	struct open_recording *o = xcalloc(1, sizeof(*o));

	o->directory = directory;
	o->plans = plans;
	return o;
}

void open_recording_free(struct open_recording *o)
{
	if (!o)
		return;
	writer_free(o->writer);
	vec_each(x, &o->ended)
		growing_file_fini(&x->file);
	vec_fini(&o->ended);
	free(o->path);
	free(o);
}

/* Of a file, which no other has for long; 0: there is none. */
static uint64_t file_id(const char *path, struct statx *ret)
{
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_BASIC_STATS | STATX_BTIME, &st) != 0)
		return 0;
	if (ret)
		*ret = st;
	if (!(st.stx_mask & STATX_BTIME))
		st.stx_btime = (struct statx_timestamp){ 0 };
	return hash_pair(hash_pair(st.stx_ino, (uint64_t)st.stx_btime.tv_sec),
			 st.stx_btime.tv_nsec) |
	       1;
}

/* Beginning. */

/* It can be told from all others, and whose kernel's addresses are in it. */
static void name_recording(struct writer *w)
{
	char text[KERNEL_BOOT_ID_MAX];

	if (kernel_boot_id(text))
		writer_info(w, SEGMENT_MAKER_BOOT, text);
	if (procfs_read_text("/proc/sys/kernel/random/uuid", text, sizeof(text), NULL) ==
	    0)
		writer_info(w, DATABASE_WRITER_RECORDING, text);
}

static void describe(const struct open_recording *o)
{
	session_notes_machine(o->writer);
	writer_info(o->writer, "target", "the whole machine");
	writer_info(o->writer, "dwell-version", DWELL_VERSION);
	if (o->plans->notice[0])
		writer_info(o->writer, "notice", o->plans->notice);
	name_recording(o->writer);
}

/* Declares the events, and says what they are. */
static void begin_events(struct open_recording *o)
{
	const struct recorder_ops *ops = o->recorder->ops;
	struct continuous_plans *p = o->plans;
	struct buf names = { 0 };

	for (size_t i = 0; i < p->n; i++) {
		session_notes_events(o->writer, &p->all[i]);
		buf_printf(&names, "%s%s", i ? "," : "", p->all[i].choice.name);
	}
	writer_info(o->writer, "experiments", buf_str(&names));
	buf_fini(&names);
	ops->begin(o->recorder, o->writer, p->all);
}

/* Which file is to be cut when this process is killed; 0: there is none yet. */
static void tell_file(struct open_recording *o)
{
	const struct recorder_ops *ops = o->recorder->ops;

	o->is_told = !o->ended.n && !writer_waiting_bytes(o->writer);
	if (ops->keep)
		ops->keep(o->recorder, file_id(o->path, NULL), o->ended.n > 0);
}

static void choose_path(struct open_recording *o)
{
	free(o->path);
	if (o->ended.n)
		o->path = xasprintf("%s/" FILE_BEGIN "%u." FILE_END, o->directory,
				    ++o->n_names);
	else
		o->path = xasprintf("%s/" FILE_BEGIN FILE_END, o->directory);
}

int open_recording_begin(struct open_recording *o, struct recorder *r, struct err *e)
{
	struct writer_options options = { .no_time = true, .is_patient = true };
	int rc;

	if (open_recording_waiting(o) >= WAITING_MAX)
		return open_recording_settle(o, e);
	choose_path(o);
	rc = writer_create(o->path, &options, &o->writer, e);
	if (rc < 0)
		return rc;
	o->recorder = r;
	describe(o);
	o->began_ns = o->flushed_ns = clock_monotonic_ns();
	o->began_boot_ns = clock_read_ns(CLOCK_BOOTTIME);
	o->asleep_before_ns = clock_asleep_ns();
	begin_events(o);
	tell_file(o);
	return 0;
}

void open_recording_begin_earlier(struct open_recording *o,
				  const struct recorder_left *left)
{
	uint64_t ago_ns = clock_read_ns(CLOCK_BOOTTIME) - left->since_ns;
	char gap[TEXT_MAX], n[TEXT_MAX], samples[TEXT_MAX + 32] = "", text[240];

	o->began_ns -= ago_ns < o->began_ns ? ago_ns : o->began_ns;
	o->began_boot_ns = left->since_ns;
	if (left->samples || !left->is_summed)
		snprintf(samples, sizeof(samples), "; %s meanwhile",
			 text_number(n, left->samples, "samples"));
	snprintf(text, sizeof(text), "from a daemon that was killed, after %s%s%s",
		 text_duration(gap, left->gap_ns), samples,
		 left->has_ended ? ", until the kernel stopped by itself" : "");
	writer_info(o->writer, "taken-over", text);
}

/* What was left. */

/* What is behind these bytes is taken from the kernel again. */
static int cut(const char *path, uint64_t id, const struct recorder_place *place,
	       const struct statx *st, struct err *e)
{
	if (!place || id != place->recording || st->stx_size <= place->bytes)
		return 0;
	if (truncate(path, (off_t)place->bytes) != 0)
		return err_os(e, "cannot cut '%s'", path);
	return 0;
}

/* Its time is from when the file was made, where that is known, to when it was written
 * to last. */
static struct segment_job_span span_of(const struct statx *st, uint64_t longest_ns)
{
	struct segment_job_span s = { .to_s = st->stx_mtime.tv_sec };

	s.from_s = s.to_s - (int64_t)(longest_ns / 1000000000);
	if ((st->stx_mask & STATX_BTIME) && st->stx_btime.tv_sec <= s.to_s &&
	    st->stx_btime.tv_sec > s.from_s)
		s.from_s = st->stx_btime.tv_sec;
	return s;
}

static int adopt(const struct open_recording *o, const char *path,
		 const struct recorder_place *place, uint64_t longest_ns, struct err *e)
{
	struct segment_job_span s;
	struct statx st;
	uint64_t id = file_id(path, &st);
	int rc;

	if (!id)
		return 0;
	rc = cut(path, id, place, &st, e);
	if (rc < 0)
		return rc;
	s = span_of(&st, longest_ns);
	return segment_job_put(o->directory, path, s.from_s, s.to_s, e);
}

static int is_open(const struct dirent *entry)
{
	return text_starts(entry->d_name, FILE_BEGIN) &&
	       text_ends(entry->d_name, FILE_END);
}

int open_recording_adopt(struct open_recording *o, const struct recorder_place *place,
			 uint64_t longest_ns, struct err *e)
{
	struct dirent **found;
	int n = scandir(o->directory, &found, is_open, alphasort), rc = 0;

	if (n < 0)
		return err_os(e, "cannot read '%s'", o->directory);
	for (int i = 0; i < n; i++) {
		own(freep) char *path =
			xasprintf("%s/%s", o->directory, found[i]->d_name);

		rc = rc < 0 ? rc : adopt(o, path, place, longest_ns, e);
		free(found[i]);
	}
	free(found);
	return rc;
}

/* Ending. */

/* All that was counted is in it, and it ends in order. */
static int finish(struct open_recording *o, struct growing_file *ret, struct err *e)
{
	struct err why = { 0 };
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t asleep_ns = clock_asleep_since_ns(o->asleep_before_ns);
	int rc = o->recorder->ops->end(o->recorder, now_ns, false, &why), rc2;

	facts_add(o->writer, FACT_TARGET, "wall-time", "ns", now_ns - o->began_ns);
	if (asleep_ns)
		facts_add(o->writer, FACT_TARGET, "asleep-time", "ns", asleep_ns);
	rc2 = writer_finish(o->writer, ret, rc < 0 ? NULL : &why);
	o->writer = NULL;
	if ((rc < 0 || rc2 < 0) && e)
		*e = why;
	return rc < 0 ? rc : rc2;
}

int open_recording_end(struct open_recording *o, struct err *e)
{
	struct ended *x = vec_push(&o->ended);
	int rc, rc2;

	x->span = segment_job_span(clock_read_ns(CLOCK_REALTIME),
				   clock_read_ns(CLOCK_BOOTTIME) - o->began_boot_ns);
	rc = finish(o, &x->file, e);
	rc2 = open_recording_settle(o, rc < 0 ? NULL : e);
	return rc < 0 ? rc : rc2;
}

/* The oldest of those that have ended is there as a whole, and waits to be a segment. */
static int put_oldest(struct open_recording *o, struct err *e)
{
	struct ended *x = &o->ended.at[0];
	int rc = growing_file_settle(&x->file, e);

	if (rc == 0)
		rc = growing_file_close(&x->file, e);
	if (rc == 0)
		rc = segment_job_put(o->directory, x->file.path, x->span.from_s,
				     x->span.to_s, e);
	if (rc < 0)
		return rc;
	growing_file_fini(&x->file);
	memmove(x, x + 1, --o->ended.n * sizeof(*x));
	return 0;
}

int open_recording_settle(struct open_recording *o, struct err *e)
{
	struct err why = { 0 };
	int rc = 0;

	while (rc == 0 && o->ended.n)
		rc = put_oldest(o, &why);
	if (rc == 0 && o->writer)
		rc = writer_flush(o->writer, &why);
	if (rc == 0 && o->writer && !o->is_told)
		tell_file(o);
	o->is_told &= rc == 0;
	o->why = why;
	if (rc < 0 && e)
		*e = why;
	return rc;
}

const struct err *open_recording_trouble(const struct open_recording *o)
{
	return o->why.code ? &o->why : NULL;
}

uint64_t open_recording_waiting(const struct open_recording *o)
{
	uint64_t n = o->writer ? writer_waiting_bytes(o->writer) : 0;

	vec_each(x, &o->ended)
		n += growing_file_waiting(&x->file);
	return n;
}
/* Meanwhile. */

bool open_recording_is_there(const struct open_recording *o)
{
	return o->writer != NULL;
}

const char *open_recording_path(const struct open_recording *o)
{
	return o->path;
}

uint64_t open_recording_began_ns(const struct open_recording *o)
{
	return o->began_ns;
}

uint64_t open_recording_bytes(const struct open_recording *o)
{
	return writer_bytes(o->writer);
}

static bool is_due(const struct open_recording *o, uint64_t now_ns)
{
	bool is_waiting = o->why.code || open_recording_waiting(o);

	return now_ns - o->flushed_ns >= (is_waiting ? TRY_NS : FLUSH_NS);
}

int open_recording_tick(struct open_recording *o, uint64_t now_ns, struct err *e)
{
	if (!is_due(o, now_ns))
		return 0;
	o->flushed_ns = now_ns;
	return open_recording_settle(o, e);
}
