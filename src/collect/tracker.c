/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/tracker.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "collect/address_space.h"
#include "collect/image_table.h"
#include "collect/jit_files.h"
#include "collect/kernel_frames.h"
#include "collect/stack_path.h"
#include "host/proc_maps.h"
#include "host/procfs.h"

#define DEPTH_MAX 8192
#define MAPS_MAX  ((size_t)64 << 20)
#define DEAD_MAX  512 /* exited threads kept for samples that come late */
/* The entry code of a program has no unwind table, and needs none. */
#define ENTRY_BYTES  128
#define JIT_RETRY_NS 100000000

/* Ids of stack steps that are no plain pc: they must not equal LOCATION_RETURN. */
enum { STEP_KERNEL = 2, STEP_TRUNCATED = 4 };

struct process {
	uint32_t pid, id;
	struct address_space *space;
	struct thread *threads; /* linked by .next */
	unsigned n_alive;
	bool has_exe, is_followed;
	uint32_t code_image; /* JIT or anonymous code, MODEL_NONE not needed yet */
	bool code_is_jit;
	uint64_t jit_retry_ns;
};

struct thread {
	uint32_t tid, id;
	bool has_exited;
	struct process *process;
	struct thread *next; /* of the process */
	struct stack_path path;
};

struct tracker {
	struct writer *writer;
	struct image_table *images;
	struct kernel_frames *kernel;
	struct jit_files *jit;
	struct map processes, threads; /* pid, tid → pointer */
	VEC(uint32_t) dead;	       /* thread ids, oldest first */
	uint32_t unknown_image, truncated_image;
	regex_t follow;
	bool has_follow, had_program, expects_jit;
	uint64_t stops[UNWIND_N_STOPS];
	struct unwind_frame frames[DEPTH_MAX];
};

struct tracker *tracker_new(struct writer *w)
{
	struct tracker *t = xcalloc(1, sizeof(*t));

	t->writer = w;
	t->images = image_table_new(w);
	t->kernel = kernel_frames_new(w);
	t->jit = jit_files_new(w);
	t->unknown_image = t->truncated_image = MODEL_NONE;
	return t;
}

static void free_thread(struct thread *th)
{
	stack_path_fini(&th->path);
	free(th);
}

static void free_process(struct process *p)
{
	for (struct thread *th = p->threads, *next; th; th = next) {
		next = th->next;
		free_thread(th);
	}
	address_space_unref(p->space);
	free(p);
}

void tracker_free(struct tracker *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->processes.cap; i++)
		if (t->processes.at[i].used)
			free_process(
				(struct process *)(uintptr_t)t->processes.at[i].value);
	map_fini(&t->threads);
	map_fini(&t->processes);
	vec_fini(&t->dead);
	if (t->has_follow)
		regfree(&t->follow);
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

void tracker_expect_jit(struct tracker *t)
{
	t->expects_jit = true;
}

/* Who there is. */

static struct process *find_process(const struct tracker *t, uint32_t pid)
{
	const uint64_t *p = map_find(&t->processes, pid);

	return p ? (struct process *)(uintptr_t)*p : NULL;
}

static struct thread *find_thread(const struct tracker *t, uint32_t tid)
{
	const uint64_t *p = map_find(&t->threads, tid);

	return p ? (struct thread *)(uintptr_t)*p : NULL;
}

static void drop_thread(struct tracker *t, struct thread *th)
{
	struct thread **link = &th->process->threads;

	while (*link != th)
		link = &(*link)->next;
	*link = th->next;
	th->process->n_alive -= !th->has_exited;
	map_remove(&t->threads, th->tid);
	free_thread(th);
}

static void drop_process(struct tracker *t, struct process *p)
{
	while (p->threads)
		drop_thread(t, p->threads);
	map_remove(&t->processes, p->pid);
	free_process(p);
}

/* A process with nothing mapped yet; space is taken over. */
static struct process *add_process(struct tracker *t, uint32_t pid,
				   struct address_space *space,
				   const struct model_process *model)
{
	struct process *p = xcalloc(1, sizeof(*p)), *old = find_process(t, pid);

	if (old)
		drop_process(t, old);
	p->pid = pid;
	p->id = writer_process(t->writer, model);
	p->space = space;
	p->is_followed = !t->has_follow || !t->had_program;
	p->code_image = MODEL_NONE;
	*map_slot(&t->processes, pid, NULL) = (uintptr_t)p;
	return p;
}

static struct thread *add_thread(struct tracker *t, uint64_t time_ns, struct process *p,
				 uint32_t tid, uint32_t name)
{
	struct thread *th = xcalloc(1, sizeof(*th)), *old = find_thread(t, tid);

	if (old)
		drop_thread(t, old);
	th->tid = tid;
	th->process = p;
	th->next = p->threads;
	p->threads = th;
	th->id = writer_thread(t->writer, &(struct model_thread){ .process = p->id,
								  .tid = tid,
								  .name = name,
								  .start_ns = time_ns });
	p->n_alive++;
	*map_slot(&t->threads, tid, NULL) = (uintptr_t)th;
	return th;
}

static struct process *unknown_process(struct tracker *t, uint64_t time_ns, uint32_t pid)
{
	if (tracker_snapshot(t, time_ns, pid, NULL) == 0)
		return find_process(t, pid);
	return add_process(t, pid, address_space_new(),
			   &(struct model_process){ .pid = pid,
						    .parent = MODEL_NONE,
						    .exec_of = MODEL_NONE,
						    .exit_status = -1,
						    .start_ns = time_ns });
}

static struct process *ensure_process(struct tracker *t, uint64_t time_ns, uint32_t pid)
{
	struct process *p = find_process(t, pid);

	return p ? p : unknown_process(t, time_ns, pid);
}

static struct thread *ensure_thread(struct tracker *t, uint64_t time_ns, uint32_t pid,
				    uint32_t tid)
{
	struct thread *th = find_thread(t, tid);

	if (th && th->process->pid == pid)
		return th;

	struct process *p = ensure_process(t, time_ns, pid);

	th = find_thread(t, tid); /* a snapshot may have found it */
	if (th && th->process == p)
		return th;
	return add_thread(t, time_ns, p, tid, writer_process_get(t->writer, p->id)->comm);
}

uint32_t tracker_thread(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	return ensure_thread(t, time_ns, pid, tid)->id;
}

uint32_t tracker_process_id(const struct tracker *t, uint32_t pid)
{
	const struct process *p = find_process(t, pid);

	return p ? p->id : MODEL_NONE;
}

/* What happens to processes. */

void tracker_fork(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid,
		  uint32_t parent_pid, uint32_t parent_tid)
{
	(void)parent_tid;
	if (pid == parent_pid) {
		struct process *p = ensure_process(t, time_ns, pid);

		if (!find_thread(t, tid) || find_thread(t, tid)->process != p)
			add_thread(t, time_ns, p, tid,
				   writer_process_get(t->writer, p->id)->comm);
		return;
	}

	struct process *parent = ensure_process(t, time_ns, parent_pid);
	struct model_process model = *writer_process_get(t->writer, parent->id);

	model.pid = pid;
	model.ppid = parent_pid;
	model.parent = parent->id;
	model.exec_of = MODEL_NONE;
	model.exit_status = -1;
	model.start_ns = time_ns;
	model.end_ns = 0;

	struct process *p = add_process(t, pid, address_space_ref(parent->space), &model);

	p->has_exe = true;
	p->is_followed = parent->is_followed;
	add_thread(t, time_ns, p, tid, model.comm);
}

static bool matches(const struct tracker *t, const char *comm, const char *cmdline)
{
	return regexec(&t->follow, comm, 0, NULL, 0) == 0 ||
	       regexec(&t->follow, cmdline, 0, NULL, 0) == 0;
}

static struct process *replace_program(struct tracker *t, uint64_t time_ns, uint32_t pid,
				       struct model_process *model)
{
	struct process *old = find_process(t, pid);
	struct procfs_stat stat;

	model->parent = model->exec_of = MODEL_NONE;
	if (old) {
		struct model_process past = *writer_process_get(t->writer, old->id);

		model->ppid = past.ppid;
		model->parent = past.parent;
		model->exec_of = old->id;
		past.end_ns = time_ns;
		writer_process_update(t->writer, old->id, &past);
	}
	if (!old && procfs_stat((pid_t)pid, &stat, NULL) == 0)
		model->ppid = stat.ppid;
	jit_files_forget(t->jit, pid);
	return add_process(t, pid, address_space_new(), model);
}

void tracker_exec(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid,
		  const char *comm)
{
	char cmdline[4096] = "";
	struct model_process model = { .pid = pid, .exit_status = -1 };

	if (procfs_cmdline((pid_t)pid, cmdline, sizeof(cmdline), NULL) < 0)
		cmdline[0] = '\0';
	model.start_ns = time_ns;
	model.comm = writer_string(t->writer, comm);
	model.cmdline = writer_string(t->writer, cmdline);

	struct process *p = replace_program(t, time_ns, pid, &model);

	if (t->has_follow && t->had_program)
		p->is_followed = matches(t, comm, cmdline);
	t->had_program = true;
	add_thread(t, time_ns, p, tid, model.comm);
}

void tracker_comm(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid,
		  const char *comm)
{
	struct thread *th = ensure_thread(t, time_ns, pid, tid);
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
static void find_jit_map(struct tracker *t, const struct process *p)
{
	if (p->code_is_jit && jit_files_has(t->jit, p->pid))
		jit_files_set_image(t->jit, p->pid, p->code_image);
}

/* Samples may still arrive that were taken before: keep the newest of the dead. */
static void bury(struct tracker *t, struct thread *th)
{
	th->has_exited = true;
	th->process->n_alive--;
	*vec_push(&t->dead) = th->tid;
	if (t->dead.n < 2 * DEAD_MAX)
		return;
	for (size_t i = 0; i < DEAD_MAX; i++) {
		struct thread *old = find_thread(t, t->dead.at[i]);
		struct process *p = old ? old->process : NULL;

		if (!old || !old->has_exited)
			continue; /* the id was used again */
		drop_thread(t, old);
		if (!p->threads)
			drop_process(t, p);
	}
	t->dead.n -= DEAD_MAX;
	memmove(t->dead.at, t->dead.at + DEAD_MAX, t->dead.n * sizeof(*t->dead.at));
}

void tracker_exit(struct tracker *t, uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	struct thread *th = find_thread(t, tid);

	if (!th || th->process->pid != pid || th->has_exited)
		return;

	struct process *p = th->process;
	struct model_thread thread = *writer_thread_get(t->writer, th->id);
	struct model_process process = *writer_process_get(t->writer, p->id);

	thread.end_ns = time_ns;
	writer_thread_update(t->writer, th->id, &thread);
	if (p->n_alive == 1) {
		find_jit_map(t, p);
		process.end_ns = time_ns;
		writer_process_update(t->writer, p->id, &process);
	}
	bury(t, th);
}

void tracker_exit_status(struct tracker *t, uint32_t pid, int status)
{
	const struct process *p = find_process(t, pid);

	if (!p)
		return;

	struct model_process model = *writer_process_get(t->writer, p->id);

	model.exit_status = status;
	writer_process_update(t->writer, p->id, &model);
}

/* The first file mapped after an exec is the program: name it and say what limits the
 * view of it. */
static void take_exe(struct tracker *t, struct process *p, uint32_t image)
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

void tracker_mmap(struct tracker *t, uint64_t time_ns, uint32_t pid,
		  const struct tracker_mmap *m)
{
	if (!m->is_exec || m->start >= m->end)
		return;

	struct process *p = ensure_process(t, time_ns, pid);
	uint32_t image = image_table_of(t->images, pid, m);
	bool is_vdso = !strcmp(m->path, "[vdso]");

	if (jit_files_note_mapping(t->jit, pid, m->path))
		return; /* a marker, not code */
	p->space = address_space_writable(p->space);
	address_space_add(p->space, &(struct unwind_map){
					    .start = m->start,
					    .end = m->end,
					    .file_offset = is_vdso ? 0 : m->file_offset,
					    .user = image });
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

static void snapshot_threads(struct tracker *t, uint64_t time_ns, struct process *p)
{
	struct procfs_ids tids = { 0 };
	struct procfs_stat stat;
	int rc = procfs_tasks((pid_t)p->pid, &tids, NULL);

	for (size_t i = 0; rc == 0 && i < tids.ids.n; i++) {
		pid_t tid = tids.ids.at[i];

		if (!find_thread(t, (uint32_t)tid) &&
		    procfs_task_stat((pid_t)p->pid, tid, &stat, NULL) == 0)
			add_thread(t, time_ns, p, (uint32_t)tid,
				   writer_string(t->writer, stat.comm));
	}
	procfs_ids_fini(&tids);
}

int tracker_snapshot(struct tracker *t, uint64_t time_ns, uint32_t pid, struct err *e)
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
				       .exit_status = -1,
				       .start_ns = time_ns };
	struct process *p = add_process(t, pid, address_space_new(), &model);

	p->has_exe = exe[0] != '\0';
	snapshot_threads(t, time_ns, p);
	snapshot_maps(t, time_ns, pid);
	return 0;
}

/* Stacks. */

struct find_map_context {
	struct tracker *tracker;
	struct process *process;
};

static const struct unwind_map *find_map(void *ctx, uint64_t pc)
{
	struct find_map_context *c = ctx;
	struct unwind_map *m = address_space_find(c->process->space, pc);

	if (m && !m->image && m->user != IMAGE_TABLE_ANONYMOUS)
		m->image = image_table_unwind(c->tracker->images, (uint32_t)m->user);
	return m;
}

static uint32_t pseudo_image(struct tracker *t, uint32_t *image, enum image_kind kind,
			     const char *name)
{
	if (*image == MODEL_NONE)
		*image = writer_image(
			t->writer,
			&(struct model_image){ .path = writer_string(t->writer, name),
					       .kind = (uint8_t)kind });
	return *image;
}

/* The image of code that no file explains.  A compiler writes its map at its first
 * function, so ask again until there is one. */
static uint32_t code_image(struct tracker *t, struct process *p, uint64_t time_ns)
{
	bool is_new = p->code_image == MODEL_NONE;

	if (!p->code_is_jit && (is_new || time_ns >= p->jit_retry_ns)) {
		p->jit_retry_ns = time_ns + JIT_RETRY_NS;
		p->code_is_jit = jit_files_has(t->jit, p->pid) || t->expects_jit;
		is_new |= p->code_is_jit;
	}
	if (!is_new)
		return p->code_image;

	p->code_image = writer_image(
		t->writer,
		&(struct model_image){
			.path = writer_string(t->writer,
					      p->code_is_jit ? "[jit]" : "[anon]"),
			.kind = p->code_is_jit ? IMAGE_JIT : IMAGE_ANON,
			.pid = p->pid });
	if (p->code_is_jit)
		jit_files_set_image(t->jit, p->pid, p->code_image);
	return p->code_image;
}

static uint32_t user_location(struct tracker *t, struct process *p, uint64_t time_ns,
			      uint64_t pc, uint32_t flags)
{
	const struct unwind_map *m = address_space_find(p->space, pc);

	if (!m && flags && pc)
		m = address_space_find(p->space, pc - 1);
	if (!m)
		return writer_location(
			t->writer,
			pseudo_image(t, &t->unknown_image, IMAGE_UNKNOWN, "[unknown]"),
			pc, flags);
	if (m->user == IMAGE_TABLE_ANONYMOUS)
		return writer_location(t->writer, code_image(t, p, time_ns), pc, flags);
	return writer_location(t->writer, image_table_id(t->images, (uint32_t)m->user),
			       pc - m->start + m->file_offset, flags);
}

/* A stack being built inwards along the thread's last one. */
struct builder {
	struct tracker *tracker;
	struct thread *thread;
	uint64_t time_ns;
	size_t i;
	uint32_t stack;
};

static void add_step(struct builder *b, uint64_t pc, uint32_t flags)
{
	struct tracker *t = b->tracker;
	uint32_t stack = stack_path_match(&b->thread->path, b->i, pc, flags);
	uint32_t location;

	if (stack == UINT32_MAX) {
		if (flags & STEP_TRUNCATED)
			location = writer_location(t->writer,
						   pseudo_image(t, &t->truncated_image,
								IMAGE_TRUNCATED,
								"[truncated]"),
						   pc, 0);
		else if (flags & STEP_KERNEL)
			location = kernel_frames_location(t->kernel, pc,
							  flags & LOCATION_RETURN);
		else
			location = user_location(t, b->thread->process, b->time_ns, pc,
						 flags);
		stack = writer_stack(t->writer, b->stack, location);
		stack_path_push(&b->thread->path, pc, flags, stack);
	}
	b->i++;
	b->stack = stack;
}

/* The outermost frame is where the kernel started the program. */
static bool is_entry(const struct tracker *t, const struct unwind_frame *frame)
{
	const struct unwind_map *m = frame->map;

	if (!m || m->user == IMAGE_TABLE_ANONYMOUS)
		return false;

	uint64_t entry = image_table_traits(t->images, (uint32_t)m->user).entry_offset;

	return entry && frame->pc - m->start + m->file_offset - entry < ENTRY_BYTES;
}

static size_t unwind_frames(struct tracker *t, struct process *p,
			    const struct tracker_sample *s, enum unwind_stop *stop)
{
	struct find_map_context c = { .tracker = t, .process = p };
	size_t n = unwind_offline(s->regs, &s->memory, find_map, &c, t->frames, DEPTH_MAX,
				  stop);

	if (*stop != UNWIND_END && n && is_entry(t, &t->frames[n - 1]))
		*stop = UNWIND_END;
	/* During an exec the registers are still those of the program that is gone. */
	if (n == 1 && !t->frames[0].map && s->n_kernel) {
		*stop = UNWIND_END;
		return 0;
	}
	return n;
}

/* User frames into t->frames, innermost first. */
static size_t take_user_frames(struct tracker *t, struct process *p,
			       const struct tracker_sample *s, enum unwind_stop *stop)
{
	size_t n = s->n_user < DEPTH_MAX ? s->n_user : DEPTH_MAX;

	*stop = s->stop;
	if (s->regs && !s->is_pc_only)
		return unwind_frames(t, p, s, stop);
	for (size_t i = 0; i < n; i++) {
		bool is_exact =
			i == 0 || (s->user_exact && s->user_exact[i / 8] >> i % 8 & 1);

		t->frames[i] = (struct unwind_frame){ .pc = s->user_pcs[i],
						      .is_return = !is_exact };
	}
	if (n < s->n_user)
		*stop = UNWIND_LIMIT;
	return n;
}

static uint32_t build_stack(struct tracker *t, struct thread *th,
			    const struct tracker_sample *s)
{
	enum unwind_stop stop;
	size_t n = take_user_frames(t, th->process, s, &stop);
	size_t n_kernel = s->n_kernel;
	struct builder b = { .tracker = t, .thread = th, .time_ns = s->time_ns };

	if (s->is_pc_only) { /* one frame: the kernel's when it was there */
		n_kernel = n_kernel ? 1 : 0;
		n = n_kernel ? 0 : n ? 1 : 0;
		stop = UNWIND_END;
	}
	stack_path_begin(&th->path, address_space_version(th->process->space));
	if (n && !s->is_pc_only)
		t->stops[stop < UNWIND_N_STOPS ? stop : UNWIND_BAD_RULE]++;
	if (n && stop != UNWIND_END)
		add_step(&b, stop, STEP_TRUNCATED);
	for (size_t i = n; i-- > 0;)
		add_step(&b, t->frames[i].pc,
			 t->frames[i].is_return ? LOCATION_RETURN : 0);
	for (size_t i = n_kernel; i-- > 0;)
		add_step(&b, s->kernel_pcs[i],
			 STEP_KERNEL | (i ? (uint32_t)LOCATION_RETURN : 0));
	return b.stack;
}

uint32_t tracker_stack(struct tracker *t, const struct tracker_sample *s)
{
	return build_stack(t, ensure_thread(t, s->time_ns, s->pid, s->tid), s);
}

static void write_sample(struct tracker *t, const struct thread *th,
			 const struct tracker_sample *s, uint32_t stack)
{
	writer_sample(t->writer, &(struct model_sample){ .time_ns = s->time_ns,
							 .weight = s->weight,
							 .event = s->event,
							 .thread = th->id,
							 .cpu = s->cpu,
							 .stack = stack,
							 .count = s->count });
}

uint32_t tracker_sample(struct tracker *t, const struct tracker_sample *s)
{
	struct thread *th = ensure_thread(t, s->time_ns, s->pid, s->tid);

	if (!th->process->is_followed)
		return 0;

	uint32_t stack = build_stack(t, th, s);

	write_sample(t, th, s, stack);
	return stack;
}

void tracker_add(struct tracker *t, const struct tracker_sample *s, uint32_t stack)
{
	struct thread *th = ensure_thread(t, s->time_ns, s->pid, s->tid);

	if (th->process->is_followed)
		write_sample(t, th, s, stack);
}

const uint64_t *tracker_stops(const struct tracker *t)
{
	return t->stops;
}

int tracker_finish(struct tracker *t, struct err *e)
{
	for (size_t i = 0; i < t->processes.cap; i++)
		if (t->processes.at[i].used)
			find_jit_map(
				t, (struct process *)(uintptr_t)t->processes.at[i].value);

	int rc = kernel_frames_keep_symbols(t->kernel, e);
	int rc2 = jit_files_keep(t->jit, rc ? NULL : e);

	return rc ? rc : rc2;
}
