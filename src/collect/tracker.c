/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/tracker.h"

#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "collect/address_space.h"
#include "collect/directions.h"
#include "collect/image_table.h"
#include "collect/jit_files.h"
#include "collect/jit_flags.h"
#include "collect/kernel_frames.h"
#include "collect/process_history.h"
#include "collect/roster.h"
#include "collect/stack_builder.h"
#include "host/cgroup_names.h"
#include "host/proc_maps.h"
#include "host/procfs.h"

#define MAPS_MAX ((size_t)64 << 20)
/* From telling that it exits to being gone, other threads may run; an id is not used
 * again as soon. */
#define EXIT_MAX_NS 100000000

struct tracker {
	struct writer *writer;
	struct image_table *images;
	struct kernel_frames *kernel;
	struct jit_files *jit;
	struct roster roster;
	struct process_history history;
	unsigned teller; /* the source that tells now */
	struct stack_builder stacks;
	struct directions *directions; /* NULL: not asked for */
	regex_t follow;
	bool has_follow, had_program, leaves_children;
	uint64_t stops[UNWIND_N_STOPS];
};

struct tracker *tracker_new(struct writer *w)
{
	struct tracker *t = xcalloc(1, sizeof(*t));

	t->writer = w;
	t->images = image_table_new(w);
	t->kernel = kernel_frames_new(w);
	t->jit = jit_files_new(w);
	t->roster.writer = t->stacks.writer = w;
	t->stacks.images = t->images;
	t->stacks.kernel = t->kernel;
	t->stacks.jit = t->jit;
	t->stacks.depth = STACK_BUILDER_DEPTH_MAX;
	t->stacks.unknown_image = t->stacks.truncated_image = t->stacks.own_image =
		MODEL_NONE;
	return t;
}

void tracker_free(struct tracker *t)
{
	if (!t)
		return;
	roster_fini(&t->roster);
	process_history_fini(&t->history);
	if (t->has_follow)
		regfree(&t->follow);
	directions_free(t->directions);
	jit_files_free(t->jit);
	kernel_frames_free(t->kernel);
	image_table_free(t->images);
	free(t);
}

void tracker_freep(struct tracker **t)
{
	tracker_free(*t);
}

int tracker_follow_only(struct tracker *t, const char *regex, struct err *e)
{
	int rc = regcomp(&t->follow, regex, REG_EXTENDED | REG_NOSUB);

	if (rc != 0) {
		char why[128];

		regerror(rc, &t->follow, why, sizeof(why));
		return err_set(e, ERR_USAGE, "--follow '%.60s': %s", regex, why);
	}
	t->has_follow = true;
	return 0;
}

void tracker_expect_descendants(struct tracker *t)
{
	t->had_program = true;
}

void tracker_leave_children(struct tracker *t)
{
	t->leaves_children = true;
}

void tracker_limit_depth(struct tracker *t, uint32_t depth)
{
	t->stacks.depth = depth;
}

void tracker_keep_symbols(struct tracker *t, struct symbol_store *symbols)
{
	image_table_keep_symbols(t->images, symbols);
}

void tracker_expect_jit(struct tracker *t)
{
	t->stacks.expects_jit = true;
}

void tracker_set_teller(struct tracker *t, unsigned teller)
{
	t->teller = teller;
}

/* Who there is. */

static struct roster_process *add_process(struct tracker *t, uint32_t pid,
					  struct address_space *space,
					  const struct model_process *model,
					  enum process_history_origin origin)
{
	struct roster_process *p = roster_add_process(&t->roster, pid, space, model);

	p->is_followed = !t->has_follow || !t->had_program;
	process_history_add(
		&t->history, pid,
		&(struct process_history_entry){ .id = p->id,
						 .name = model->comm,
						 .origin = origin,
						 .start_ns = model->start_ns,
						 .tellers = UINT32_C(1) << t->teller,
						 .is_followed = p->is_followed });
	return p;
}

static void follow(struct tracker *t, struct roster_process *p, bool is_followed)
{
	p->is_followed = is_followed;
	process_history_told(&t->history, p->pid, t->teller)->is_followed = is_followed;
}

/* Has another source told of it?  Then it began when the earlier one says. */
static bool is_told(struct tracker *t, uint64_t time_ns, uint32_t pid,
		    enum process_history_origin origin, uint32_t name)
{
	struct process_history_entry *e =
		process_history_claim(&t->history, pid, t->teller, origin, name, time_ns);

	if (e && time_ns < e->start_ns) {
		struct model_process model = *writer_process_get(t->writer, e->id);

		model.start_ns = e->start_ns = time_ns;
		writer_process_update(t->writer, e->id, &model);
	}
	return e;
}

static struct roster_process *unknown_process(struct tracker *t, uint64_t time_ns,
					      uint32_t pid)
{
	if (tracker_snapshot(t, time_ns, pid, NULL) == 0)
		return roster_find_process(&t->roster, pid);
	return add_process(t, pid, address_space_new(),
			   &(struct model_process){ .pid = pid,
						    .parent = MODEL_NONE,
						    .exec_of = MODEL_NONE,
						    .exit_status = -1,
						    .start_ns = time_ns },
			   PROCESS_HISTORY_FOUND);
}

static struct roster_process *ensure_process(struct tracker *t, uint64_t time_ns,
					     uint32_t pid)
{
	struct roster_process *p = roster_find_process(&t->roster, pid);

	return p ? p : unknown_process(t, time_ns, pid);
}

static struct roster_thread *ensure_thread(struct tracker *t, uint64_t time_ns,
					   uint32_t pid, uint32_t tid)
{
	struct roster_thread *th = roster_find_thread(&t->roster, tid);

	if (th && th->process->pid == pid)
		return th;

	struct roster_process *p = ensure_process(t, time_ns, pid);

	th = roster_find_thread(&t->roster, tid); /* a snapshot may have found it */
	if (th && th->process == p)
		return th;
	return roster_add_thread(&t->roster, time_ns, p, tid,
				 writer_process_get(t->writer, p->id)->comm);
}

uint32_t tracker_thread(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	return ensure_thread(t, time_ns, pid, tid)->id;
}

uint32_t tracker_process_id(const struct tracker *t, uint32_t pid)
{
	const struct roster_process *p = roster_find_process(&t->roster, pid);

	return p ? p->id : MODEL_NONE;
}

struct tracker_process tracker_process_told(struct tracker *t, uint64_t time_ns,
					    uint32_t pid)
{
	const struct process_history_entry *e =
		process_history_told(&t->history, pid, t->teller);
	const struct roster_process *p = e ? roster_find_process(&t->roster, pid)
					   : ensure_process(t, time_ns, pid);

	if (!e)
		return (struct tracker_process){ p->id, p->is_followed, p->space };
	return (struct tracker_process){ e->id, e->is_followed,
					 p && p->id == e->id ? p->space : NULL };
}

uint32_t tracker_past_thread(struct tracker *t, uint64_t time_ns, uint32_t process,
			     uint32_t tid)
{
	return roster_past_thread(&t->roster, time_ns, process, tid);
}

bool tracker_thread_then(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid,
			 const char *comm, uint32_t *ret)
{
	const struct process_history_entry *e = process_history_then(
		&t->history, pid, writer_string(t->writer, comm), time_ns);

	if (!e)
		return false;
	*ret = roster_past_thread(&t->roster, time_ns, e->id, tid);
	return true;
}

/* String in the recording: where it is now, 0 unknown. */
static uint32_t cgroup_of(struct tracker *t, uint32_t pid)
{
	char path[PATH_MAX];

	if (!cgroup_names_of_process((pid_t)pid, path, sizeof(path)))
		return 0;
	return writer_string(t->writer, path);
}

/* What happens to processes. */

void tracker_fork(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid,
		  uint32_t parent_pid, uint32_t parent_tid)
{
	(void)parent_tid;
	if (pid == parent_pid) {
		struct roster_process *p = ensure_process(t, time_ns, pid);

		if (!roster_find_thread(&t->roster, tid) ||
		    roster_find_thread(&t->roster, tid)->process != p)
			roster_add_thread(&t->roster, time_ns, p, tid,
					  writer_process_get(t->writer, p->id)->comm);
		return;
	}
	if (is_told(t, time_ns, pid, PROCESS_HISTORY_FORK, 0))
		return;

	struct roster_process *parent = ensure_process(t, time_ns, parent_pid);
	struct model_process model = *writer_process_get(t->writer, parent->id);

	model.pid = pid;
	model.ppid = parent_pid;
	model.parent = parent->id;
	model.exec_of = MODEL_NONE;
	model.exit_status = -1;
	model.start_ns = time_ns;
	model.end_ns = 0;

	struct roster_process *p = add_process(t, pid, address_space_ref(parent->space),
					       &model, PROCESS_HISTORY_FORK);

	p->has_exe = true;
	follow(t, p, parent->is_followed && !t->leaves_children);
	roster_add_thread(&t->roster, time_ns, p, tid, model.comm);
}

static bool matches(const struct tracker *t, const char *comm, const char *cmdline)
{
	return regexec(&t->follow, comm, 0, NULL, 0) == 0 ||
	       regexec(&t->follow, cmdline, 0, NULL, 0) == 0;
}

static struct roster_process *replace_program(struct tracker *t, uint64_t time_ns,
					      uint32_t pid, struct model_process *model)
{
	struct roster_process *old = roster_find_process(&t->roster, pid);
	bool was_left = old && !old->is_followed;
	struct procfs_stat stat;

	model->parent = model->exec_of = MODEL_NONE;
	if (old) {
		struct model_process past = *writer_process_get(t->writer, old->id);

		model->ppid = past.ppid;
		model->parent = past.parent;
		if (!model->cgroup) /* it has gone already */
			model->cgroup = past.cgroup;
		model->exec_of = old->id;
		past.end_ns = time_ns;
		writer_process_update(t->writer, old->id, &past);
	}
	if (!old && procfs_stat((pid_t)pid, &stat, NULL) == 0)
		model->ppid = stat.ppid;
	jit_files_forget(t->jit, pid);

	struct roster_process *p =
		add_process(t, pid, address_space_new(), model, PROCESS_HISTORY_EXEC);

	if (t->leaves_children && was_left)
		follow(t, p, false);
	return p;
}

void tracker_exec(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid,
		  const char *comm)
{
	char cmdline[4096] = "";
	struct model_process model = { .pid = pid, .exit_status = -1 };

	model.comm = writer_string(t->writer, comm);
	if (is_told(t, time_ns, pid, PROCESS_HISTORY_EXEC, model.comm))
		return;
	if (procfs_cmdline((pid_t)pid, cmdline, sizeof(cmdline), NULL) < 0)
		cmdline[0] = '\0';
	model.start_ns = time_ns;
	model.cmdline = writer_string(t->writer, cmdline);
	model.cgroup = cgroup_of(t, pid);

	struct roster_process *p = replace_program(t, time_ns, pid, &model);

	if (t->has_follow && t->had_program)
		follow(t, p, matches(t, comm, cmdline));
	t->had_program = true;
	roster_add_thread(&t->roster, time_ns, p, tid, model.comm);
}

void tracker_comm(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid,
		  const char *comm)
{
	struct roster_thread *th = ensure_thread(t, time_ns, pid, tid);
	struct model_thread model = *writer_thread_get(t->writer, th->id);

	model.name = writer_string(t->writer, comm);
	writer_thread_update(t->writer, th->id, &model);
	if (pid != tid)
		return;

	struct model_process process = *writer_process_get(t->writer, th->process->id);

	process.comm = model.name;
	writer_process_update(t->writer, th->process->id, &process);
}

/* Some compilers write their map when they end (java). */
void tracker_find_jit_map(struct tracker *t, const struct roster_process *p)
{
	if (p->code_is_jit && jit_files_has(t->jit, p->pid))
		jit_files_set_image(t->jit, p->pid, p->code_image);
}

void tracker_exit(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	struct roster_thread *th = roster_find_thread(&t->roster, tid);

	if (!th || th->process->pid != pid || th->has_exited)
		return;

	struct roster_process *p = th->process;
	struct model_thread thread = *writer_thread_get(t->writer, th->id);
	struct model_process process = *writer_process_get(t->writer, p->id);

	thread.end_ns = time_ns;
	writer_thread_update(t->writer, th->id, &thread);
	if (p->n_alive == 1) {
		tracker_find_jit_map(t, p);
		process.end_ns = time_ns;
		writer_process_update(t->writer, p->id, &process);
	}
	roster_bury(&t->roster, th, time_ns);
}

void tracker_exit_status(struct tracker *t, uint32_t pid, int status)
{
	const struct roster_process *p = roster_find_process(&t->roster, pid);

	if (!p)
		return;

	struct model_process model = *writer_process_get(t->writer, p->id);

	model.exit_status = status;
	writer_process_update(t->writer, p->id, &model);
}

/* The first file mapped after an exec is the program: name it and say what limits the
 * view of it. */
static void take_exe(struct tracker *t, struct roster_process *p, uint32_t image)
{
	struct model_process model = *writer_process_get(t->writer, p->id);
	struct image_table_traits traits = image_table_traits(t->images, image);

	p->has_exe = true;
	model.exe = writer_string(t->writer, image_table_path(t->images, image));
	if (traits.is_32bit)
		model.note = writer_string(t->writer,
					   "32-bit program: no callers, only where it "
					   "was");
	if (traits.is_setid && geteuid() != 0) {
		model.note = writer_string(t->writer,
					   "set-user-id program: the kernel lets only "
					   "root observe it");
		model.flags |= PROCESS_NOT_FOLLOWED;
	}
	writer_process_update(t->writer, p->id, &model);
}

static bool is_mapped(struct address_space *space, const struct unwind_map *map)
{
	const struct unwind_map *old = address_space_find(space, map->start);

	return old && old->start == map->start && old->end == map->end &&
	       old->file_offset == map->file_offset && old->user == map->user;
}

void tracker_mmap(struct tracker *t, uint64_t time_ns, uint32_t pid,
		  const struct tracker_mmap *m)
{
	if (!m->is_exec || m->start >= m->end)
		return;

	struct roster_process *p = ensure_process(t, time_ns, pid);
	uint32_t image = image_table_of(t->images, pid, m);
	bool is_vdso = !strcmp(m->path, "[vdso]");
	struct unwind_map map = { .start = m->start,
				  .end = m->end,
				  .file_offset = is_vdso ? 0 : m->file_offset,
				  .user = image };

	/* A marker is no code; a snapshot may tell what a record has told. */
	if (jit_files_note_mapping(t->jit, pid, m->path) || is_mapped(p->space, &map))
		return;
	p->space = address_space_writable(p->space);
	address_space_add(p->space, &map);
	if (image == IMAGE_TABLE_ANONYMOUS)
		return;
	writer_mapping(t->writer,
		       &(struct model_mapping){ .process = p->id,
						.image = image_table_id(t->images, image),
						.start = m->start,
						.end = m->end,
						.file_offset = m->file_offset,
						.from_ns = time_ns });
	if (!p->has_exe && !is_vdso)
		take_exe(t, p, image);
}

/* Who told of it first may have seen its file before another one had its name. */
struct unwind_map tracker_late_mmap(struct tracker *t, uint64_t time_ns, uint32_t pid,
				    uint32_t process, const struct tracker_mmap *m)
{
	struct roster_process *p = roster_find_process(&t->roster, pid);
	bool is_current = p && p->id == process;
	const struct unwind_map *known =
		is_current ? address_space_find(p->space, m->start) : NULL;
	struct unwind_map map = { .start = m->start,
				  .end = m->end,
				  .file_offset = m->file_offset };

	if (known && known->user != IMAGE_TABLE_ANONYMOUS && known->end >= m->end) {
		map.user = known->user;
		map.file_offset = m->start - known->start + known->file_offset;
		return map;
	}
	map.user = image_table_of(t->images, pid, m);
	if (!strcmp(m->path, "[vdso]"))
		map.file_offset = 0;
	if (is_current)
		tracker_mmap(t, time_ns, pid, m);
	return map;
}

uint32_t tracker_image_id(const struct tracker *t, const struct unwind_map *m)
{
	return m->user == IMAGE_TABLE_ANONYMOUS
		       ? MODEL_NONE
		       : image_table_id(t->images, (uint32_t)m->user);
}

struct tracker_code tracker_code_of(struct tracker *t, uint64_t time_ns, uint32_t pid,
				    const struct tracker_mmap *m)
{
	uint32_t image = image_table_of(t->images, pid, m);

	if (image == IMAGE_TABLE_ANONYMOUS)
		return (struct tracker_code){
			.image = stack_builder_code_image(
				&t->stacks, ensure_process(t, time_ns, pid), time_ns),
			.fd = -1,
		};
	return (struct tracker_code){ .image = image_table_id(t->images, image),
				      .is_file = true,
				      .fd = image_table_file(t->images, image) };
}

uint32_t tracker_location(struct tracker *t, uint64_t time_ns, uint32_t pid, uint64_t pc)
{
	return stack_builder_location(&t->stacks, ensure_process(t, time_ns, pid),
				      time_ns, pc);
}

/* Processes that run already. */

static void snapshot_maps(struct tracker *t, uint64_t time_ns, uint32_t pid)
{
	struct buf text = { 0 };
	struct proc_map m;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	if (procfs_read(path, MAPS_MAX, &text, NULL) == 0) {
		const char *at = buf_str(&text), *end = at + text.size;

		while (proc_maps_next(&at, end, &m))
			tracker_mmap(t, time_ns, pid,
				     &(struct tracker_mmap){ .start = m.start,
							     .end = m.end,
							     .file_offset = m.file_offset,
							     .path = m.path,
							     .inode = m.inode,
							     .is_exec = m.is_exec });
	}
	buf_fini(&text);
}

static void snapshot_threads(struct tracker *t, uint64_t time_ns,
			     struct roster_process *p)
{
	struct procfs_ids tids = { 0 };
	struct procfs_stat stat;
	int rc = procfs_tasks((pid_t)p->pid, &tids, NULL);

	for (size_t i = 0; rc == 0 && i < tids.ids.n; i++) {
		pid_t tid = tids.ids.at[i];

		if (!roster_find_thread(&t->roster, (uint32_t)tid) &&
		    procfs_task_stat((pid_t)p->pid, tid, &stat, NULL) == 0)
			roster_add_thread(&t->roster, time_ns, p, (uint32_t)tid,
					  writer_string(t->writer, stat.comm));
	}
	procfs_ids_fini(&tids);
}

static int add_running(struct tracker *t, uint64_t time_ns, uint32_t pid, struct err *e)
{
	char cmdline[4096], exe[4096];
	struct procfs_stat stat;
	int rc = procfs_stat((pid_t)pid, &stat, e);

	if (rc < 0)
		return rc;
	if (procfs_cmdline((pid_t)pid, cmdline, sizeof(cmdline), NULL) < 0)
		cmdline[0] = '\0';
	if (procfs_exe((pid_t)pid, exe, sizeof(exe), NULL) < 0)
		exe[0] = '\0';

	struct model_process model = { .pid = pid,
				       .ppid = stat.ppid,
				       .parent = MODEL_NONE,
				       .exec_of = MODEL_NONE,
				       .comm = writer_string(t->writer, stat.comm),
				       .exe = writer_string(t->writer, exe),
				       .cmdline = writer_string(t->writer, cmdline),
				       .cgroup = cgroup_of(t, pid),
				       .exit_status = -1,
				       .start_ns = time_ns };

	struct roster_process *p =
		add_process(t, pid, address_space_new(), &model, PROCESS_HISTORY_FOUND);

	p->has_exe = exe[0] != '\0';
	if (!p->is_followed)
		follow(t, p, matches(t, stat.comm, cmdline));
	return 0;
}

/* A process that is known already, from records that came while it was attached to,
 * stays the same one: what the records could not tell is added. */
int tracker_snapshot(struct tracker *t, uint64_t time_ns, uint32_t pid, struct err *e)
{
	struct roster_process *p = roster_find_process(&t->roster, pid);
	int rc = p && p->n_alive ? 0 : add_running(t, time_ns, pid, e);

	if (rc < 0)
		return rc;
	p = roster_find_process(&t->roster, pid);
	snapshot_threads(t, time_ns, p);
	snapshot_maps(t, time_ns, pid);
	return 0;
}

static void count_stop(struct tracker *t, unsigned stop)
{
	if (stop < UNWIND_N_STOPS)
		t->stops[stop]++;
}

uint32_t tracker_stack_of(struct tracker *t, struct roster_thread *th,
			  const struct tracker_sample *s)
{
	unsigned stop;
	uint32_t stack = stack_builder_build(&t->stacks, th, s, &stop);

	count_stop(t, stop);
	return stack;
}

uint32_t tracker_stack(struct tracker *t, const struct tracker_sample *s)
{
	return tracker_stack_of(t, ensure_thread(t, s->time_ns, s->pid, s->tid), s);
}

static struct model_sample model_of(const struct roster_thread *th,
				    const struct tracker_sample *s, uint32_t stack)
{
	return (struct model_sample){ .time_ns = s->time_ns,
				      .weight = s->weight,
				      .event = s->event,
				      .thread = th->id,
				      .cpu = s->cpu,
				      .stack = stack,
				      .count = s->count };
}

static void write_sample(struct tracker *t, const struct roster_thread *th,
			 const struct tracker_sample *s, uint32_t stack)
{
	struct model_sample model = model_of(th, s, stack);

	writer_sample(t->writer, &model);
}

uint32_t tracker_sample(struct tracker *t, const struct tracker_sample *s)
{
	struct roster_thread *th = ensure_thread(t, s->time_ns, s->pid, s->tid);

	if (!th->process->is_followed)
		return 0;

	unsigned stop;
	uint32_t stack = stack_builder_build(&t->stacks, th, s, &stop);

	count_stop(t, stop);
	write_sample(t, th, s, stack);
	if (t->directions)
		directions_take(t->directions, th->process, s);
	return stack;
}

void tracker_add(struct tracker *t, const struct tracker_sample *s, uint32_t stack)
{
	struct roster_thread *th = ensure_thread(t, s->time_ns, s->pid, s->tid);

	if (th->process->is_followed)
		write_sample(t, th, s, stack);
}

bool tracker_is_followed(const struct tracker *t, uint64_t time_ns, uint32_t pid,
			 uint32_t tid)
{
	const struct roster_thread *th = roster_find_thread(&t->roster, tid);

	if (!th || th->process->pid != pid || !th->process->is_followed)
		return false;
	return !th->has_exited || time_ns < th->exit_ns + EXIT_MAX_NS;
}

bool tracker_knows(const struct tracker *t, uint32_t pid, bool *ret_is_followed)
{
	const struct roster_process *p = roster_find_process(&t->roster, pid);

	if (!p || !p->n_alive)
		return false;
	*ret_is_followed = p->is_followed;
	return true;
}

void tracker_draft(struct tracker *t, const struct tracker_sample *s,
		   struct tracker_draft *ret)
{
	struct roster_thread *th = ensure_thread(t, s->time_ns, s->pid, s->tid);
	uint32_t stack = stack_builder_build(&t->stacks, th, s, &ret->stop);

	ret->sample = model_of(th, s, stack);
}

void tracker_write(struct tracker *t, const struct tracker_draft *d)
{
	count_stop(t, d->stop);
	writer_sample(t->writer, &d->sample);
}

const uint64_t *tracker_stops(const struct tracker *t)
{
	return t->stops;
}

const char *tracker_jit_refusal(const struct tracker *t)
{
	for (uint32_t i = 0; i < image_table_count(t->images); i++) {
		const char *why = jit_flags_refusal(image_table_path(t->images, i));

		if (why)
			return why;
	}
	return NULL;
}

/* Not all sources tell of an exit. */
static bool is_running(const struct roster_process *p)
{
	struct procfs_stat stat;

	return p->is_followed && p->n_alive &&
	       procfs_stat((pid_t)p->pid, &stat, NULL) == 0 && !strchr("ZX", stat.state);
}

unsigned tracker_running(const struct tracker *t, uint32_t *ret_pid)
{
	unsigned n = 0;

	for (size_t i = 0; i < t->roster.processes.cap; i++) {
		const struct map_entry *at = &t->roster.processes.at[i];
		const struct roster_process *p = (void *)(uintptr_t)at->value;

		if (!at->used || !is_running(p))
			continue;
		*ret_pid = p->pid;
		n++;
	}
	return n;
}

void tracker_each_running(const struct tracker *t, tracker_running_fn *fn, void *ctx)
{
	for (size_t i = 0; i < t->roster.processes.cap; i++) {
		const struct map_entry *at = &t->roster.processes.at[i];
		const struct roster_process *p = (void *)(uintptr_t)at->value;

		if (at->used && p->is_followed && p->n_alive)
			fn(ctx, p->pid, p->id);
	}
}

void tracker_want_directions(struct tracker *t)
{
	t->directions = directions_new(&t->stacks);
}

void tracker_write_directions(struct tracker *t)
{
	if (t->directions)
		directions_write(t->directions);
}

int tracker_finish(struct tracker *t, bool has_symbols, struct err *e)
{
	tracker_write_directions(t);
	for (size_t i = 0; i < t->roster.processes.cap; i++)
		if (t->roster.processes.at[i].used)
			tracker_find_jit_map(t, (struct roster_process *)(uintptr_t)
							t->roster.processes.at[i]
								.value);

	int rc = has_symbols ? kernel_frames_keep_symbols(t->kernel, e) : 0;
	int rc2 = jit_files_keep(t->jit, rc ? NULL : e);

	return rc ? rc : rc2;
}
