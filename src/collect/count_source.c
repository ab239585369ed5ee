/* SPDX-License-Identifier: Apache-2.0
 *
 * count_source - basic blocks counted by the engine that runs the program (count/).
 *
 * Each process leaves a file for each program that it executes.  A file is read when its
 * process has ended or executes another program, at the latest at the end, and is removed
 * then, so that memory holds those only that are being written.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "collect/count_base.h"
#include "collect/count_directory.h"
#include "collect/count_late.h"
#include "collect/count_layers.h"
#include "collect/count_orders.h"
#include "collect/count_pids.h"
#include "collect/count_record.h"
#include "collect/count_status.h"
#include "collect/count_visits.h"
#include "collect/count_words.h"
#include "collect/facts.h"
#include "collect/launch_env.h"
#include "collect/source.h"
#include "host/clock.h"
#include "host/procfs.h"
#include "wire/count_flags.h"
#include "wire/count_program.h"

extern const struct source_ops count_source;

/* Who is on a busy machine may not come to write a header for so long. */
#define HEADER_WAIT_NS 200000000

/* A file of a process: one program that it executed. */
struct counted {
	struct count_directory_file file;
	uint32_t pid; /* as we call it */
	uint64_t start_ns;
	char *exe; /* as long as it is counted, of those to which the engine came; or NULL
		    */
	bool is_named;		 /* its process has been asked for its name */
	struct count_base *base; /* in which the file begins; until it is read, or NULL */
	bool is_read;
};

/* A file that has no header yet, so that nobody can say whose it is. */
struct begun {
	struct count_directory_file file;
	uint64_t since_ns;
};

struct count {
	struct source base;
	struct source_context context;
	struct count_directory directory;
	struct count_bases bases;
	struct count_pids pids;
	struct count_words words;
	struct count_record record;
	VEC(struct counted) all; /* by process, then image; of those that may go on */
	VEC(struct begun) begun;
	struct map started; /* pid of every process that was met */
	char cwd[PATH_MAX];
	uint32_t program;   /* pid of what is launched ... */
	struct buf cmdline; /* ... and its words */
	uint64_t n_damaged, n_unbegun, n_images, n_parts;
	int news; /* new files are told there */
	struct count_visits visits;
};

static int check_processes(const struct scope *scope, struct err *e)
{
	struct count_status status;
	char where[32];

	for (size_t i = 0; i < scope->n_pids; i++) {
		int rc = count_status_check(scope->pids[i], &status, e);

		snprintf(where, sizeof(where), "process %d", scope->pids[i]);
		if (rc < 0)
			return err_in(e, ERR_UNSUPPORTED, where);
	}
	return 0;
}

static int count_probe(const struct experiment *x, const struct scope *scope,
		       struct err *e)
{
	if (x->trigger != EXPERIMENT_BASIC_BLOCKS)
		return err_set(e, ERR_UNSUPPORTED, "it feeds basic blocks only");
	if (!count_program_size)
		return err_set(e, ERR_UNSUPPORTED, "programs are run so on x86-64 only");
	if (scope->kind != SCOPE_LAUNCH && scope->kind != SCOPE_PROCESSES)
		return err_set(
			e, ERR_UNSUPPORTED,
			"whole processes are counted: 'dwell run', or 'dwell attach "
			"-p PID'");
	if (scope->may_pause)
		return err_set(e, ERR_UNSUPPORTED,
			       "counting cannot be paused or delayed");
	if (scope->kind == SCOPE_PROCESSES)
		return check_processes(scope, e);
	if (count_status_check_own(e) < 0)
		return ERR_UNSUPPORTED;
	return count_words_check(scope->program, getenv("PATH"), e);
}

static void count_range(const struct experiment *x, uint64_t *ret_min,
			uint64_t *ret_resolution)
{
	(void)x;
	*ret_min = 1;
	*ret_resolution = 0;
}

static const char *count_how(const struct experiment *x, unsigned column)
{
	(void)x;
	(void)column;
	return "running it in translation";
}

/* Who was not found cannot be asked, but may be there all the same. */
static bool is_done(const struct count *s, const struct counted *x)
{
	return procfs_has_ended((pid_t)x->pid) &&
	       !(count_pids_is_nobodys(x->pid) &&
		 count_directory_is_written(&s->directory, x->file));
}

static void count_free(struct source *source)
{
	struct count *s = (struct count *)source;
	bool is_used = s->visits.n_kept;

	count_visits_end(&s->visits);
	vec_each(x, &s->all) {
		is_used |= !x->exe && !procfs_has_ended((pid_t)x->pid);
		free(x->exe);
	}
	count_visits_fini(&s->visits);
	count_bases_fini(&s->bases);
	count_directory_remove(&s->directory, is_used);
	closep(&s->news);
	count_record_fini(&s->record);
	count_words_fini(&s->words);
	vec_fini(&s->all);
	vec_fini(&s->begun);
	count_pids_fini(&s->pids);
	map_fini(&s->started);
	buf_fini(&s->cmdline);
	free(s);
}

static const struct plan *own_plan(const struct source_context *c)
{
	for (size_t i = 0; i < c->n_plans; i++)
		if (c->plans[i].source == &count_source)
			return &c->plans[i];
	return NULL;
}

/* By descriptor, as its path may be another's. */
static void watch(const struct count *s)
{
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", s->directory.fd);
	if (s->news >= 0)
		inotify_add_watch(s->news, link, IN_CREATE);
}

static int count_open(const struct source_context *c, struct source **ret, struct err *e)
{
	struct count *s = xcalloc(1, sizeof(*s));
	const struct plan *plan = own_plan(c);
	int rc;

	s->base.ops = &count_source;
	s->context = *c;
	s->news = -1;
	if (!getcwd(s->cwd, sizeof(s->cwd)))
		s->cwd[0] = 0;
	s->record = (struct count_record){ .tracker = c->tracker,
					   .writer = c->writer,
					   .event = plan ? plan->events[0] : 0,
					   .directory = s->cwd,
					   .under = c->scope->under,
					   .n_under = c->scope->n_under };
	rc = c->scope->kind == SCOPE_PROCESSES
		     ? count_directory_make_for(&s->directory, c->scope->pids[0], e)
		     : count_directory_make(&s->directory, e);
	if (rc < 0) {
		count_free(&s->base);
		return rc;
	}
	s->news = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	watch(s);
	*ret = &s->base;
	return 0;
}

static int count_reword(struct source *source, const struct launch_env *env,
			char *const **words, struct err *e)
{
	struct count *s = (struct count *)source;
	char prefix[COUNT_DIRECTORY_MAX + 8], flags[COUNT_FLAGS_MAX];
	int rc;

	own(freep) char *engine =
		xasprintf("%s/" COUNT_DIRECTORY_ENGINE, s->directory.path);

	for (char *const *word = *words; *word; word++)
		buf_printf(&s->cmdline, "%s%s", word == *words ? "" : " ", *word);
	count_directory_prefix(&s->directory, prefix);
	count_orders_make(s->context.scope, flags);
	rc = count_words_make(&s->words, engine, prefix, flags, *words,
			      launch_env_get(env, "PATH"), e);
	if (rc == 0)
		*words = s->words.at.at;
	return rc;
}

static int count_start(struct source *source, pid_t pid, struct err *e)
{
	struct count *s = (struct count *)source;
	const struct scope *scope = s->context.scope;
	char flags[COUNT_FLAGS_MAX];

	count_orders_make(scope, flags);
	for (size_t i = 0; !pid && i < scope->n_pids; i++) {
		int rc = count_pids_add(&s->pids, scope->pids[i], e);

		if (rc == 0)
			rc = count_visits_begin(&s->visits, scope->pids[i], &s->directory,
						flags, e);

		if (rc < 0)
			return rc;
	}
	if (!pid)
		return 0;
	s->program = (uint32_t)pid;
	return count_directory_give(&s->directory, s->context.scope->uid,
				    s->context.scope->gid, e);
}

/* New processes are asked for their names and parents while they are there.  All others
 * are looked at every time the session wakes up. */
static size_t count_fds(const struct source *source, struct pollfd *fds, size_t max)
{
	const struct count *s = (const struct count *)source;

	if (s->news < 0 || !max)
		return 0;
	*fds = (struct pollfd){ .fd = s->news, .events = POLLIN };
	return 1;
}

static void take_news(struct count *s)
{
	char events[4096];

	while (s->news >= 0 && read(s->news, events, sizeof(events)) > 0)
		;
}

/* Processes. */

/* Until the engine has told the kernel, the process has the engine's name, or that of the
 * link by which the engine executes itself. */
static bool is_engines(const char *comm)
{
	return !strcmp(comm, COUNT_DIRECTORY_ENGINE) || !strcmp(comm, "exe");
}

static void name_process(struct count *s, struct counted *x)
{
	struct tracker *t = s->context.tracker;
	struct writer *w = s->context.writer;
	struct model_process model;
	struct procfs_stat stat;
	char cmdline[4096];
	pid_t pid = (pid_t)x->pid;

	if (procfs_stat(pid, &stat, NULL) < 0 || strchr("ZX", stat.state) ||
	    is_engines(stat.comm) ||
	    procfs_cmdline(pid, cmdline, sizeof(cmdline), NULL) < 0)
		return;
	x->is_named = true;
	model = *writer_process_get(w, tracker_process_id(t, x->pid));
	model.cmdline = writer_string(w, cmdline);
	writer_process_update(w, tracker_process_id(t, x->pid), &model);
	tracker_comm(t, x->start_ns, x->pid, x->pid, stat.comm);
}

/* The program is known before it can be asked. */
static void name_launched(struct count *s)
{
	struct writer *w = s->context.writer;
	uint32_t id = tracker_process_id(s->context.tracker, s->program);
	struct model_process model = *writer_process_get(w, id);

	model.cmdline = writer_string(w, buf_str(&s->cmdline));
	writer_process_update(w, id, &model);
}

/* Of a process that may be gone, and told before it went. */
static uint32_t parent_of(struct count *s, const struct counted *x)
{
	own(closep) int fd = count_directory_open(&s->directory, x->file);
	struct count_file_header h;
	struct procfs_stat stat;

	if (procfs_stat((pid_t)x->pid, &stat, NULL) == 0)
		return stat.ppid;
	if (fd < 0 || pread(fd, &h, sizeof(h), 0) != sizeof(h) ||
	    h.magic != COUNT_FILE_MAGIC || h.version != COUNT_FILE_VERSION)
		return 0;
	return count_pids_find(&s->pids, h.parent_pid, h.pid_namespace);
}

/* The file that it runs as long as it is the same program. */
static char *exe_of(const struct count *s, uint32_t pid, uint32_t parent)
{
	char exe[PATH_MAX];

	if (s->context.scope->kind != SCOPE_PROCESSES)
		return NULL;
	vec_each(x, &s->all)
		if (x->pid == parent && x->exe)
			return xstrdup(x->exe);
	return procfs_exe((pid_t)pid, exe, sizeof(exe), NULL) == 0 ? xstrdup(exe) : NULL;
}

static void begin(struct count *s, struct counted *x)
{
	struct tracker *t = s->context.tracker;
	uint32_t pid = x->pid, parent = parent_of(s, x);
	bool is_new;

	count_visits_child(&s->visits, pid, parent);
	x->exe = exe_of(s, pid, parent);
	map_slot(&s->started, pid, &is_new);
	if (is_new && map_find(&s->started, parent))
		tracker_fork(t, x->start_ns, pid, pid, parent, parent);
	else
		tracker_exec(t, x->start_ns, pid, pid, "");
	s->n_images++;
	if (is_new && pid == s->program)
		name_launched(s);
	name_process(s, x);
}

/* What nobody could be asked: of a process that was too short, or that its parent made
 * before it was itself read. */
static void name_after_program(struct count *s, const struct counted *x,
			       const struct count_reader *r)
{
	struct writer *w = s->context.writer;
	uint32_t id = tracker_process_id(s->context.tracker, x->pid);
	struct model_process model = *writer_process_get(w, id);

	if (!model.exe && r->n_images) {
		model.exe = writer_string(w, r->images[0].path);
		writer_process_update(w, id, &model);
	}
	if (!x->is_named && r->name[0])
		tracker_comm(s->context.tracker, x->start_ns, x->pid, x->pid, r->name);
}

/* Ended by another while the engine was loading the program, or as a child before its
 * first instruction. */
static void note_unbegun(struct count *s, const struct counted *x)
{
	struct writer *w = s->context.writer;
	uint32_t id = tracker_process_id(s->context.tracker, x->pid);
	struct model_process model = *writer_process_get(w, id);

	s->n_unbegun++;
	model.note = writer_string(w, "ended before anything was counted");
	writer_process_update(w, id, &model);
}

/* there: what of it is in the file in which it begins. */
static int open_whole(struct count *s, const struct counted *x,
		      const struct count_window *whole,
		      const struct count_file_base *there, struct count_reader *ret)
{
	struct count_common *common = count_bases_common(&s->bases, x->base, there);

	return common ? count_reader_open_child(whole, common, ret, NULL)
		      : count_reader_open(whole, ret, NULL);
}

/* Nobody writes it any more, or we stop here. */
static void read_file(struct count *s, struct counted *x, uint64_t now_ns, bool has_ended)
{
	own(closep) int fd = count_directory_open(&s->directory, x->file);
	struct count_window window, whole;
	struct count_layers layers;
	struct count_reader r;
	int rc;

	x->is_read = true;
	if (fd < 0 || !tracker_is_followed(s->context.tracker, now_ns, x->pid, x->pid))
		return;
	count_window_over(&fd, &window);
	rc = count_layers_over(&window, count_base_window(x->base), &layers, &whole)
		     ? open_whole(s, x, &whole, &layers.there, &r)
		     : ERR_FORMAT;
	s->n_damaged += rc == ERR_FORMAT;
	if (rc == ERR_UNSUPPORTED && window.size == COUNT_FILE_FULL_BYTES)
		s->record.n_cut++;
	else if (rc == ERR_UNSUPPORTED && has_ended && !x->file.part)
		note_unbegun(s, x);
	if (rc < 0)
		return;
	count_record_take(&s->record, x->pid, x->start_ns, now_ns, &r);
	name_after_program(s, x, &r);
	count_reader_fini(&r);
}

/* And its file may be removed. */
static void finish_file(struct count *s, struct counted *x, uint64_t now_ns,
			bool has_ended)
{
	if (!x->base) /* its header came later */
		x->base = count_bases_meet(&s->bases, &s->directory, x->file);
	read_file(s, x, now_ns, has_ended);
	count_bases_leave(&s->bases, x->base);
	x->base = NULL;
	count_bases_keep(&s->bases, &s->directory, x->file);
}

/* It executes another program. */
static void replace(struct count *s, struct counted *x, uint64_t now_ns)
{
	if (x->is_read)
		return;
	finish_file(s, x, now_ns, true);
	count_directory_empty(&s->directory, x->file);
}

/* Programs that the engine could not be taken to. */
static void check_exe(struct count *s, struct counted *x, uint64_t now_ns)
{
	struct tracker *t = s->context.tracker;
	struct writer *w = s->context.writer;
	struct model_process model;
	char exe[PATH_MAX];
	size_t n = strlen(s->directory.path);

	if (x->is_read || procfs_exe((pid_t)x->pid, exe, sizeof(exe), NULL) < 0 ||
	    (x->exe ? !strcmp(exe, x->exe) : !strncmp(exe, s->directory.path, n)))
		return;
	/* brought there by another's loader */
	if (count_directory_is_mapped(&s->directory, x->file, (pid_t)x->pid))
		return;
	replace(s, x, now_ns);
	tracker_exec(t, now_ns, x->pid, x->pid,
		     strrchr(exe, '/') ? strrchr(exe, '/') + 1 : exe);
	model = *writer_process_get(w, tracker_process_id(t, x->pid));
	model.exe = writer_string(w, exe);
	model.flags |= PROCESS_NOT_FOLLOWED;
	model.note = writer_string(w, "a program that is not counted");
	writer_process_update(w, tracker_process_id(t, x->pid), &model);
}

static void end(struct count *s, struct counted *x, uint64_t now_ns, bool has_exited)
{
	if (!x->is_read)
		finish_file(s, x, now_ns, has_exited);
	if (has_exited)
		tracker_exit(s->context.tracker, now_ns, x->pid, x->pid);
	count_directory_drop(&s->directory, x->file);
}

/* Running. */

static int by_process(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	return count_directory_compare(&x->file, &y->file);
}

/* The engine had no more room for what it knows of the program's code. */
static void go_on(struct count *s, struct counted *x)
{
	vec_each(before, &s->all)
		if (before->file.pid == x->file.pid && before->file.n == x->file.n) {
			free(x->exe);
			x->exe = before->exe ? xstrdup(before->exe) : NULL;
			x->is_named = before->is_named;
		}
	s->n_parts++;
}

/* The header comes soon after the file.  False: it has not come; 0 is in its place. */
static bool find_namespace(const struct count *s, struct count_directory_file f,
			   uint64_t *ret)
{
	own(closep) int fd = count_directory_open(&s->directory, f);
	struct count_file_header h = { 0 };
	bool is_there = fd >= 0 && pread(fd, &h, sizeof(h), 0) == sizeof(h) &&
			h.magic == COUNT_FILE_MAGIC;

	*ret = is_there ? h.pid_namespace : 0;
	return is_there;
}

static struct begun *find_begun(struct count *s, struct count_directory_file f)
{
	vec_each(x, &s->begun)
		if (!count_directory_compare(&x->file, &f))
			return x;
	return NULL;
}

/* Its process would have ended without a header, as far as can be told: others that call
 * themselves by its id may be of a namespace of their own. */
static bool is_left(const struct count *s, struct count_directory_file f)
{
	vec_each(x, &s->all)
		if (x->file.pid == f.pid && x->pid == f.pid && is_done(s, x))
			return true;
	return false;
}

/* A process that has begun another file writes no header any more. */
static bool has_gone_on(struct count *s, struct count_directory_file f,
			const struct count_directory_file *next)
{
	uint64_t namespace;

	return next && next->pid == f.pid && find_namespace(s, *next, &namespace) &&
	       count_pids_is_own(&s->pids, namespace);
}

/* next: the one behind it in order, or NULL. */
static bool is_to_wait(struct count *s, struct count_directory_file f,
		       const struct count_directory_file *next, uint64_t now_ns)
{
	const struct begun *begun = find_begun(s, f);

	if (has_gone_on(s, f, next) || is_left(s, f))
		return false;
	if (begun)
		return now_ns - begun->since_ns < HEADER_WAIT_NS;
	*vec_push(&s->begun) = (struct begun){ f, now_ns };
	return true;
}

static void forget_begun(struct count *s, struct count_directory_file f)
{
	struct begun *x = find_begun(s, f);

	if (x)
		*x = s->begun.at[--s->begun.n];
}

static void add(struct count *s, struct count_directory_file f, uint64_t namespace,
		uint64_t now_ns)
{
	struct counted x = { .file = f,
			     .pid = count_pids_find(&s->pids, f.pid, namespace),
			     .base = count_bases_meet(&s->bases, &s->directory, f),
			     .start_ns = now_ns };

	for (size_t i = s->all.n; i-- > 0;)
		if (s->all.at[i].pid == x.pid)
			replace(s, &s->all.at[i], now_ns);
	if (f.part)
		go_on(s, &x);
	else
		begin(s, &x);
	*vec_push(&s->all) = x;
}

static void find_files(struct count *s, uint64_t now_ns, bool is_final)
{
	struct count_directory_list list = { 0 };
	size_t n_known = s->all.n; /* in order */

	count_directory_list(&s->directory, &list);
	for (size_t i = 0; i < list.at.n; i++) {
		const struct counted x = { .file = list.at.at[i] };
		bool is_last = i + 1 == list.at.n;
		uint64_t namespace;

		if (n_known && bsearch(&x, s->all.at, n_known, sizeof(x), by_process))
			continue;
		if (!find_namespace(s, x.file, &namespace) && !is_final &&
		    is_to_wait(s, x.file, is_last ? NULL : &list.at.at[i + 1], now_ns))
			continue;
		forget_begun(s, x.file);
		add(s, x.file, namespace, now_ns);
	}
	vec_fini(&list.at);
	if (s->all.n)
		qsort(s->all.at, s->all.n, sizeof(*s->all.at), by_process);
}

static int count_drain(struct source *source, bool is_final, struct err *e)
{
	struct count *s = (struct count *)source;
	uint64_t now_ns = clock_monotonic_ns();
	size_t n = 0;

	(void)e;
	take_news(s);
	count_late_let_go();
	count_pids_turn(&s->pids);
	find_files(s, now_ns, is_final);
	count_visits_leave_awaited(&s->visits);
	for (size_t i = 0; i < s->all.n; i++) {
		struct counted *x = &s->all.at[i];
		/* Ask before, so that a process that has ended has written everything. */
		bool is_over = is_done(s, x);

		if (!x->is_read && !x->is_named && !is_over)
			name_process(s, x);
		if (!is_over)
			check_exe(s, x, now_ns);
		if (is_over || is_final)
			end(s, x, now_ns, is_over);
		if (!is_over)
			s->all.at[n++] = *x;
		else
			free(x->exe);
	}
	s->all.n = n;
	return 0;
}

static void count_pause(struct source *source, bool is_paused)
{
	(void)source;
	(void)is_paused;
}

static void count_stop(struct source *source)
{
	count_visits_end(&((struct count *)source)->visits);
}

static void count_finish(struct source *source, struct source_stats *ret)
{
	struct count *s = (struct count *)source;
	const struct count_record *c = &s->record;
	const struct {
		const char *name;
		uint64_t value;
	} losses[] = {
		{ "not-followed", c->n_not_followed },
		{ "unbalanced-executions", c->n_unbalanced },
		{ "unknown-edges", c->n_unknown },
		{ "uncounted-entries", c->n_lost },
		{ "cut-counts", c->n_cut },
		{ "unbegun-counts", s->n_unbegun },
		{ "undecoded-blocks", c->n_undecoded },
		{ "damaged-counts", s->n_damaged },
		{ "restricted-counts", s->visits.n_confined + c->n_left },
		{ "still-counted", s->visits.n_kept },
	};

	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		if (losses[i].value)
			facts_loss(s->context.writer, losses[i].name, losses[i].value);
	facts_add(s->context.writer, FACT_RATE, "counted-programs", "count", s->n_images);
	if (s->n_parts)
		facts_add(s->context.writer, FACT_RATE, "forgotten-translations", "count",
			  s->n_parts);
	*ret = (struct source_stats){ .samples = c->n_samples,
				      .trouble = s->visits.why_kept };
}

const struct source_ops count_source = {
	.name = "count",
	.summary = "the program run in translation: needs no privilege",
	.sums = true,
	.probe = count_probe,
	.range = count_range,
	.how = count_how,
	.open = count_open,
	.reword = count_reword,
	.start = count_start,
	.fds = count_fds,
	.drain = count_drain,
	.pause = count_pause,
	.stop = count_stop,
	.finish = count_finish,
	.free = count_free,
};
