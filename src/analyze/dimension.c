/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/dimension.h"

#include <string.h>

#include "analyze/names.h"
#include "analyze/profile_data.h"
#include "analyze/frame_path.h"
#include "base/search.h"

static const struct profile_function *function_of(const struct dimension_context *c,
						  const struct profile_frame *f)
{
	return profile_function(c->profile, f->function);
}

static uint64_t function_key(struct dimension_context *c unused,
			     const struct profile_frame *f)
{
	return f->function;
}

static void function_label(const struct dimension_context *c, uint64_t key unused,
			   const struct profile_frame *f, struct dimension_label *ret)
{
	const struct profile_function *fn = function_of(c, f);

	buf_puts(&ret->name, fn->label);
	ret->image = fn->image;
	ret->file = fn->decl_file;
	ret->line = fn->decl_line;
	ret->function = f->function;
	ret->address = fn->start;
}

static uint64_t image_key(struct dimension_context *c, const struct profile_frame *f)
{
	return intern_str(c->texts, function_of(c, f)->image);
}

static void image_label(const struct dimension_context *c, uint64_t key,
			const struct profile_frame *f, struct dimension_label *ret)
{
	buf_puts(&ret->name, intern_get(c->texts, (uint32_t)key));
	ret->file = function_of(c, f)->image_path;
}

static uint64_t file_key(struct dimension_context *c, const struct profile_frame *f)
{
	return intern_str(c->texts, f->file);
}

static void file_label(const struct dimension_context *c unused, uint64_t key unused,
		       const struct profile_frame *f, struct dimension_label *ret)
{
	buf_puts(&ret->name, f->file ? f->file : "(no line)");
	ret->file = f->file;
}

/* Code without line information is one row per function.  What a later build only has
 * may be on lines where the first has something else. */
static uint64_t line_key(struct dimension_context *c, const struct profile_frame *f)
{
	if (!f->file || !f->line)
		return f->function;
	if (function_of(c, f)->is_later) {
		const uint32_t place[] = { intern_str(c->texts, f->file), f->line,
					   f->function };

		return UINT64_C(1) << 63 |
		       intern_add(c->texts, (const char *)place, sizeof(place));
	}
	return ((uint64_t)intern_str(c->texts, f->file) + 1) << 32 | f->line;
}

static void line_label(const struct dimension_context *c, uint64_t key,
		       const struct profile_frame *f, struct dimension_label *ret)
{
	ret->function = f->function;
	ret->image = function_of(c, f)->image;
	if (!(key >> 32)) {
		buf_puts(&ret->name, "(no line)");
		return;
	}
	ret->file = f->file;
	ret->line = f->line;
	buf_printf(&ret->name, "%s:%u", names_base(f->file), f->line);
}

static uint64_t instruction_key(struct dimension_context *c,
				const struct profile_frame *f)
{
	struct {
		uint64_t image, address;
	} place = { f->build, f->address };

	return intern_add(c->texts, (const char *)&place, sizeof(place));
}

static void instruction_label(const struct dimension_context *c, uint64_t key unused,
			      const struct profile_frame *f, struct dimension_label *ret)
{
	buf_printf(&ret->name, "0x%llx", (unsigned long long)f->address);
	ret->image = function_of(c, f)->image;
	ret->file = f->file;
	ret->line = f->line;
	ret->function = f->function;
	ret->address = f->address;
	ret->build = f->build;
	while (f->is_inlined && f > c->profile->frames.at)
		f--;
	ret->code_function = f->function;
}

static uint64_t pack(uint32_t source, uint32_t id)
{
	return (uint64_t)source << 32 | id;
}

static const struct recording *unpack(const struct dimension_context *c, uint64_t key,
				      uint32_t *id)
{
	*id = (uint32_t)key;
	return profile_source(c->profile, key >> 32);
}

static uint64_t thread_key(struct dimension_context *c unused, uint32_t source,
			   const struct sample_block *b, size_t i)
{
	return pack(source, b->thread[i]);
}

static void thread_label(const struct dimension_context *c, uint64_t key,
			 const struct profile_frame *f unused,
			 struct dimension_label *ret)
{
	uint32_t id;
	const struct recording *r = unpack(c, key, &id);
	const struct model_thread *t = recording_thread(r, id);
	const struct model_process *p = t ? recording_process(r, t->process) : NULL;

	if (!t)
		return buf_puts(&ret->name, "(unknown thread)");
	buf_puts(&ret->name, recording_string(r, t->name));
	if (!t->tid && p) {
		buf_printf(&ret->name, "%sof %s", t->name ? "  " : "",
			   recording_string(r, p->comm));
		return;
	}
	buf_printf(&ret->name, "  tid %u", t->tid);
	if (p && p->pid != t->tid)
		buf_printf(&ret->name, "  of %s pid %u", recording_string(r, p->comm),
			   p->pid);
}

static void thread_shared(const struct dimension_context *c, uint64_t key,
			  struct buf *ret)
{
	uint32_t id;
	const struct recording *r = unpack(c, key, &id);
	const struct model_thread *t = recording_thread(r, id);
	const struct model_process *p = t ? recording_process(r, t->process) : NULL;
	const char *name = t ? recording_string(r, t->name) : "(unknown thread)";
	const char *comm = p ? recording_string(r, p->comm) : name;

	buf_puts(ret, name);
	if (strcmp(comm, name) != 0)
		buf_printf(ret, "  of %s", comm);
}

static const struct model_process *process_of(const struct recording *r, uint32_t thread)
{
	const struct model_thread *t = recording_thread(r, thread);

	return t ? recording_process(r, t->process) : NULL;
}

/* All processes of a command, as a database keeps them, are one row in whatever epoch
 * and recording they are: its key is their text. */
#define CLASS_KEY (UINT64_C(1) << 63)

static bool is_class(const struct model_process *p)
{
	return p && !p->pid;
}

static void put_class(const struct recording *r, const struct model_process *p,
		      struct buf *to)
{
	const char *exe = recording_string(r, p->exe);
	const char *cgroup = recording_string(r, p->cgroup);

	buf_puts(to, recording_string(r, p->comm));
	if (*exe)
		buf_printf(to, "  %s", exe);
	if (*cgroup)
		buf_printf(to, "  in %s", cgroup);
}

static uint64_t process_key(struct dimension_context *c, uint32_t source,
			    const struct sample_block *b, size_t i)
{
	const struct recording *r = profile_source(c->profile, source);
	const struct model_thread *t = recording_thread(r, b->thread[i]);
	const struct model_process *p = t ? recording_process(r, t->process) : NULL;
	own(buf_fini) struct buf text = { 0 };

	if (!is_class(p))
		return pack(source, t ? t->process : MODEL_NONE);
	put_class(r, p, &text);
	return CLASS_KEY | intern_add(c->texts, (const char *)text.data, text.size);
}

static void process_label(const struct dimension_context *c, uint64_t key,
			  const struct profile_frame *f unused,
			  struct dimension_label *ret)
{
	uint32_t id;
	const struct recording *r;
	const struct model_process *p;

	if (key & CLASS_KEY)
		return buf_puts(&ret->name, intern_get(c->texts, (uint32_t)key));
	r = unpack(c, key, &id);
	p = recording_process(r, id);
	if (!p)
		return buf_puts(&ret->name, "(unknown process)");
	buf_printf(&ret->name, "%s  pid %u", recording_string(r, p->comm), p->pid);
	if (p->cmdline)
		buf_printf(&ret->name, "  %s", recording_string(r, p->cmdline));
}

static void process_shared(const struct dimension_context *c, uint64_t key,
			   struct buf *ret)
{
	uint32_t id;
	const struct recording *r;
	const struct model_process *p;

	if (key & CLASS_KEY)
		return buf_puts(ret, intern_get(c->texts, (uint32_t)key));
	r = unpack(c, key, &id);
	p = recording_process(r, id);
	buf_puts(ret, p ? recording_string(r, p->comm) : "(unknown process)");
	if (p && p->cmdline)
		buf_printf(ret, "  %s", recording_string(r, p->cmdline));
}

static uint64_t command_key(struct dimension_context *c, uint32_t source,
			    const struct sample_block *b, size_t i)
{
	const struct recording *r = profile_source(c->profile, source);
	const struct model_process *p = process_of(r, b->thread[i]);

	return intern_str(c->texts, p ? recording_string(r, p->comm) : "");
}

static uint64_t cgroup_key(struct dimension_context *c, uint32_t source,
			   const struct sample_block *b, size_t i)
{
	const struct recording *r = profile_source(c->profile, source);
	const struct model_process *p = process_of(r, b->thread[i]);

	return intern_str(c->texts, p ? recording_string(r, p->cgroup) : "");
}

static uint64_t host_key(struct dimension_context *c, uint32_t source,
			 const struct sample_block *b, size_t i)
{
	const struct recording *r = profile_source(c->profile, source);
	const struct model_process *p = process_of(r, b->thread[i]);

	return intern_str(c->texts, p && p->host ? recording_string(r, p->host)
						 : recording_info(r, "host"));
}

static uint64_t epoch_key(struct dimension_context *c, uint32_t source,
			  const struct sample_block *b, size_t i)
{
	const struct recording *r = profile_source(c->profile, source);
	const struct model_process *p = process_of(r, b->thread[i]);

	return intern_str(c->texts, p && p->epoch ? recording_string(r, p->epoch)
						  : recording_info(r, "epoch"));
}

static void text_label(const struct dimension_context *c, uint64_t key,
		       const struct profile_frame *f unused, struct dimension_label *ret)
{
	const char *s = intern_get(c->texts, (uint32_t)key);

	buf_puts(&ret->name, *s ? s : "(unknown)");
}

static uint64_t cpu_key(struct dimension_context *c unused, uint32_t source unused,
			const struct sample_block *b, size_t i)
{
	return b->cpu[i];
}

static void cpu_label(const struct dimension_context *c unused, uint64_t key,
		      const struct profile_frame *f unused, struct dimension_label *ret)
{
	if (key == MODEL_NONE)
		buf_puts(&ret->name, "(unknown)");
	else
		buf_printf(&ret->name, "cpu %u", (unsigned)key);
}

/* Intervals are recorded in the order they begin; the last one begun wins where they
 * overlap. */
static uint64_t interval_key(struct dimension_context *c, uint32_t source,
			     const struct sample_block *b, size_t i)
{
	const struct input *s = &c->profile->sources[source];
	const struct recording *r = s->recording;
	uint32_t low = (uint32_t)search_split(
		recording_n_intervals(r), k,
		recording_interval(r, (uint32_t)k)->from_ns <= b->time_ns[i]);

	while (low && b->time_ns[i] < s->interval_ends[low - 1])
		if (b->time_ns[i] < recording_interval(r, --low)->to_ns)
			return pack(source, low);
	return pack(source, MODEL_NONE);
}

static void interval_label(const struct dimension_context *c, uint64_t key,
			   const struct profile_frame *f unused,
			   struct dimension_label *ret)
{
	uint32_t id;
	const struct recording *r = unpack(c, key, &id);
	const struct model_interval *v = recording_interval(r, id);

	if (!v)
		return buf_puts(&ret->name, "(between intervals)");
	buf_printf(&ret->name, "%u", id + 1);
	if (v->name)
		buf_printf(&ret->name, "  %s", recording_string(r, v->name));
}

static void interval_shared(const struct dimension_context *c, uint64_t key,
			    struct buf *ret)
{
	uint32_t id;
	const struct recording *r = unpack(c, key, &id);
	const struct model_interval *v = recording_interval(r, id);

	if (!v)
		buf_puts(ret, "(between intervals)");
	else if (v->name)
		buf_puts(ret, recording_string(r, v->name));
	else
		buf_printf(ret, "%u", id + 1);
}

static uint64_t event_key(struct dimension_context *c, uint32_t source,
			  const struct sample_block *b, size_t i)
{
	const struct recording *r = profile_source(c->profile, source);
	const struct model_event *ev = recording_event(r, b->event[i]);

	return intern_str(c->texts, ev ? recording_string(r, ev->name) : "");
}

static const struct profile_frame *leaf(const struct dimension_context *c,
					uint32_t source, uint32_t stack)
{
	const struct input *s = &c->profile->sources[source];
	uint32_t n, first = input_frames(s, stack, &n);

	return n ? &c->profile->frames.at[first + n - 1] : NULL;
}

static uint64_t mode_key(struct dimension_context *c, uint32_t source, uint32_t stack)
{
	const struct profile_frame *f = leaf(c, source, stack);
	uint8_t kind = f ? function_of(c, f)->kind : IMAGE_UNKNOWN;
	bool is_kernel = kind == IMAGE_KERNEL || kind == IMAGE_MODULE;

	return intern_str(c->texts, is_kernel ? "kernel" : "user");
}

/* Labels are innermost: of a system call, and inside of that of its error. */
static uint64_t call_key(struct dimension_context *c, uint32_t source, uint32_t stack)
{
	static const char start[] = "[syscall ";
	const struct recording *r = profile_source(c->profile, source);

	while (stack) {
		const struct profile_frame *f = leaf(c, source, stack);
		const char *name = f ? function_of(c, f)->name : "";
		size_t n = strlen(name);

		if (!f || function_of(c, f)->kind != IMAGE_LABEL)
			break;
		if (n > sizeof(start) && strncmp(name, start, sizeof(start) - 1) == 0)
			return intern_add(c->texts, name + sizeof(start) - 1,
					  n - sizeof(start));
		stack = recording_stacks(r)[stack].parent;
	}
	return intern_str(c->texts, "(no system call)");
}

static uint64_t stack_key(struct dimension_context *c unused, uint32_t source,
			  uint32_t stack)
{
	return pack(source, stack);
}

/* As people read a backtrace, innermost first. */
static void put_path(const struct dimension_context *c, const struct frame_path *path,
		     struct buf *ret)
{
	if (!path->frames.n)
		buf_puts(ret, "(empty stack)");
	for (size_t i = path->frames.n; i-- > 0;)
		buf_printf(ret, "%s%s", function_of(c, &path->frames.at[i])->name,
			   i ? " < " : "");
}

static void stack_shared(const struct dimension_context *c, uint64_t key, struct buf *ret)
{
	own(frame_path_fini) struct frame_path path = { 0 };

	frame_path_fill(&path, c->profile, &c->profile->sources[key >> 32],
			(uint32_t)key);
	put_path(c, &path, ret);
}

static void stack_label(const struct dimension_context *c, uint64_t key,
			const struct profile_frame *f unused, struct dimension_label *ret)
{
	own(frame_path_fini) struct frame_path path = { 0 };

	frame_path_fill(&path, c->profile, &c->profile->sources[key >> 32],
			(uint32_t)key);
	put_path(c, &path, &ret->name);
	if (!path.frames.n)
		return;
	ret->function = path.frames.at[path.frames.n - 1].function;
	ret->image = profile_function(c->profile, ret->function)->image;
}

#define FRAME(what, head, about)                                                         \
	{                                                                                \
		.name = #what, .title = head, .summary = about,                          \
		.scope = DIMENSION_FRAME, .frame_key = what##_key, .label = what##_label \
	}
#define STACK(what, head, about, shared, show)                                           \
	{                                                                                \
		.name = #what, .title = head, .summary = about,                          \
		.scope = DIMENSION_STACK, .shared_name = shared,                         \
		.stack_key = what##_key, .label = show                                   \
	}
#define SAMPLE(what, head, about, needs, shared, show)                                   \
	{                                                                                \
		.name = #what, .title = head, .summary = about,                          \
		.scope = DIMENSION_SAMPLE, .columns = needs, .shared_name = shared,      \
		.sample_key = what##_key, .label = show                                  \
	}

#define TASK(what, head, about, shared, show)                                            \
	{                                                                                \
		.name = #what, .title = head, .summary = about,                          \
		.scope = DIMENSION_SAMPLE, .columns = SAMPLE_THREAD,                     \
		.is_sentence = true, .shared_name = shared, .sample_key = what##_key,    \
		.label = show                                                            \
	}

const struct dimension dimensions[] = {
	FRAME(function, "Function", "functions, inlined ones included"),
	FRAME(image, "Image", "executables, libraries, the kernel"),
	FRAME(file, "Source file", "source files"),
	FRAME(line, "Line", "source lines"),
	FRAME(instruction, "Address", "instructions"),
	STACK(stack, "Stack", "distinct stacks", stack_shared, stack_label),
	STACK(call, "System call", "system calls", NULL, text_label),
	STACK(mode, "Mode", "user code and kernel", NULL, text_label),
	TASK(thread, "Thread", "threads", thread_shared, thread_label),
	TASK(process, "Process", "processes", process_shared, process_label),
	TASK(command, "Command", "programs, over all their processes", NULL, text_label),
	SAMPLE(cgroup, "Control group", "control groups, as of services and containers",
	       SAMPLE_THREAD, NULL, text_label),
	SAMPLE(cpu, "CPU", "processors", SAMPLE_CPU, NULL, cpu_label),
	SAMPLE(host, "Host", "machines", SAMPLE_THREAD, NULL, text_label),
	SAMPLE(epoch, "Epoch", "epochs of a database", SAMPLE_THREAD, NULL, text_label),
	SAMPLE(interval, "Interval", "intervals between marks", SAMPLE_TIME,
	       interval_shared, interval_label),
	SAMPLE(event, "Event", "events", SAMPLE_EVENT, NULL, text_label),
	{ .name = NULL },
};

const struct dimension *dimension_find(const char *name)
{
	for (const struct dimension *d = dimensions; d->name; d++)
		if (strcmp(d->name, name) == 0)
			return d;
	return NULL;
}
