/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/stack_builder.h"

#include <stdio.h>

#include "collect/address_space.h"
#include "collect/image_table.h"
#include "collect/jit_files.h"
#include "collect/kernel_frames.h"
#include "collect/own_library.h"
#include "collect/pseudo_image.h"
#include "collect/roster.h"
#include "collect/tracker.h"
#include "host/executable.h"
#include "host/procfs.h"

#define JIT_RETRY_NS 100000000

/* Ids of stack steps that are no plain pc: they must not equal LOCATION_RETURN. */
enum { STEP_KERNEL = 2, STEP_TRUNCATED = 4, STEP_OWN = 8 };

struct find_map_context {
	struct stack_builder *builder;
	struct roster_process *process;
};

const struct unwind_map *stack_builder_map(struct stack_builder *b,
					   struct roster_process *p, uint64_t pc)
{
	struct unwind_map *m = address_space_find(p->space, pc);

	if (m && !m->image && m->user != IMAGE_TABLE_ANONYMOUS)
		m->image = image_table_unwind(b->images, (uint32_t)m->user);
	return m;
}

static const struct unwind_map *find_map(void *ctx, uint64_t pc)
{
	struct find_map_context *c = ctx;

	return stack_builder_map(c->builder, c->process, pc);
}

static void look_for_jit(struct stack_builder *b, struct roster_process *p,
			 uint64_t time_ns)
{
	p->jit_retry_ns = time_ns + JIT_RETRY_NS;
	p->code_is_jit = jit_files_has(b->jit, p->pid) || b->expects_jit;
}

/* The image of code that no file explains.  A compiler writes its map at its first
 * function, so ask again until there is one. */
uint32_t stack_builder_code_image(struct stack_builder *b, struct roster_process *p,
				  uint64_t time_ns)
{
	bool is_new = p->code_image == MODEL_NONE;

	if (!p->code_is_jit && (is_new || time_ns >= p->jit_retry_ns)) {
		look_for_jit(b, p, time_ns);
		is_new |= p->code_is_jit;
	}
	if (!is_new)
		return p->code_image;

	p->code_image = writer_image(
		b->writer,
		&(struct model_image){
			.path = writer_string(b->writer,
					      p->code_is_jit ? "[jit]" : "[anon]"),
			.kind = p->code_is_jit ? IMAGE_JIT : IMAGE_ANON,
			.pid = p->pid });
	if (p->code_is_jit)
		jit_files_set_image(b->jit, p->pid, p->code_image);
	return p->code_image;
}

static bool has_nothing_mapped(struct roster_process *p)
{
	char path[64], begin[64];

	if (p->has_nothing_mapped)
		return true;
	snprintf(path, sizeof(path), "/proc/%u/maps", p->pid);
	p->has_nothing_mapped =
		procfs_read_text(path, begin, sizeof(begin), NULL) < 0 || !begin[0];
	return p->has_nothing_mapped;
}

/* Code of a compiler's in a process that has ended before it was asked where code is: its
 * map is there still. */
static bool was_compiled(struct stack_builder *b, struct roster_process *p,
			 uint64_t time_ns)
{
	if (!p->code_is_jit && time_ns >= p->jit_retry_ns)
		look_for_jit(b, p, time_ns);
	return p->code_is_jit && has_nothing_mapped(p);
}

static uint32_t user_location(struct stack_builder *b, struct roster_process *p,
			      uint64_t time_ns, uint64_t pc, uint32_t flags)
{
	const struct unwind_map *m = address_space_find(p->space, pc);

	if (!m && flags && pc)
		m = address_space_find(p->space, pc - 1);
	if (!m && !was_compiled(b, p, time_ns))
		return writer_location(b->writer,
				       pseudo_image(b->writer, &b->unknown_image,
						    IMAGE_UNKNOWN, "[unknown]"),
				       pc, flags);
	if (!m || m->user == IMAGE_TABLE_ANONYMOUS)
		return writer_location(b->writer, stack_builder_code_image(b, p, time_ns),
				       pc, flags);
	return writer_location(b->writer, image_table_id(b->images, (uint32_t)m->user),
			       pc - m->start + m->file_offset, flags);
}

uint32_t stack_builder_location(struct stack_builder *b, struct roster_process *p,
				uint64_t time_ns, uint64_t pc)
{
	return user_location(b, p, time_ns, pc, 0);
}

/* A stack that grows inwards along the thread's last one. */
struct growth {
	struct stack_builder *builder;
	struct roster_thread *thread;
	uint64_t time_ns;
	size_t i;
	uint32_t stack;
};

static void add_step(struct growth *g, uint64_t pc, uint32_t flags)
{
	struct stack_builder *b = g->builder;
	uint32_t stack = stack_path_match(&g->thread->path, g->i, pc, flags);
	uint32_t location;

	if (stack == UINT32_MAX) {
		if (flags & STEP_TRUNCATED)
			location = writer_location(
				b->writer,
				pseudo_image(b->writer, &b->truncated_image,
					     IMAGE_TRUNCATED, "[truncated]"),
				pc, 0);
		else if (flags & STEP_OWN)
			location = own_library_location(b->writer, &b->own_image);
		else if (flags & STEP_KERNEL)
			location = kernel_frames_location(b->kernel, pc,
							  flags & LOCATION_RETURN);
		else
			location = user_location(b, g->thread->process, g->time_ns, pc,
						 flags);
		stack = writer_stack(b->writer, g->stack, location);
		stack_path_push(&g->thread->path, pc, flags, stack);
	}
	g->i++;
	g->stack = stack;
}

static enum own_library_code whose(void *ctx, size_t i)
{
	const struct growth *g = ctx;
	const struct unwind_frame *f = &g->builder->frames[i];
	/* Behind a call that does not return there may be another file. */
	const struct unwind_map *m =
		f->map ? f->map
		       : address_space_find(g->thread->process->space,
					    f->pc - f->is_return);

	if (!m || m->user == IMAGE_TABLE_ANONYMOUS)
		return own_library_at(f->pc);
	return image_table_traits(g->builder->images, (uint32_t)m->user).whose;
}

/* n of them in b->frames, innermost first. */
static void add_user_frames(struct growth *g, size_t n)
{
	const struct unwind_frame *frames = g->builder->frames;
	size_t n_ours = own_library_innermost(n, whose, g);

	for (size_t i = n; i-- > n_ours;)
		if (whose(g, i) != OWN_LIBRARY_OURS)
			add_step(g, frames[i].pc,
				 frames[i].is_return ? LOCATION_RETURN : 0);
	if (n_ours)
		add_step(g, 0, STEP_OWN);
}

/* The outermost frame is where the kernel started the program. */
static bool is_entry(const struct stack_builder *b, const struct unwind_map *m,
		     uint64_t pc)
{
	if (!m || m->user == IMAGE_TABLE_ANONYMOUS)
		return false;

	uint64_t entry = image_table_traits(b->images, (uint32_t)m->user).entry_offset;

	return executable_is_entry(entry, pc - m->start + m->file_offset);
}

static size_t unwind_frames(struct stack_builder *b, struct roster_process *p,
			    const struct tracker_sample *s, enum unwind_stop *stop)
{
	struct find_map_context c = { .builder = b, .process = p };
	size_t n = unwind_offline(s->regs, &s->memory, find_map, &c, b->frames, b->depth,
				  stop);

	if (*stop != UNWIND_END && n &&
	    is_entry(b, b->frames[n - 1].map, b->frames[n - 1].pc))
		*stop = UNWIND_END;
	if (*stop != UNWIND_END && s->memory.end)
		*s->memory.end = 0;
	/* During an exec the registers are still those of the program that is gone. */
	if (n == 1 && !b->frames[0].map && s->n_kernel) {
		*stop = UNWIND_END;
		return 0;
	}
	return n;
}

/* User frames into b->frames, innermost first. */
static size_t take_user_frames(struct stack_builder *b, struct roster_process *p,
			       const struct tracker_sample *s, enum unwind_stop *stop)
{
	size_t n = s->n_user < b->depth ? s->n_user : b->depth;

	*stop = s->stop;
	if (s->regs && !s->is_pc_only)
		return unwind_frames(b, p, s, stop);
	for (size_t i = 0; i < n; i++) {
		bool is_exact = (i == 0 && !s->is_call) ||
				(s->user_exact && s->user_exact[i / 8] >> i % 8 & 1);

		b->frames[i] = (struct unwind_frame){ .pc = s->user_pcs[i],
						      .is_return = !is_exact };
	}
	if (n < s->n_user)
		*stop = UNWIND_LIMIT;
	else if (*stop == UNWIND_NO_TABLE && n &&
		 is_entry(b, address_space_find(p->space, s->user_pcs[n - 1]),
			  s->user_pcs[n - 1]))
		*stop = UNWIND_END;
	return n;
}

uint32_t stack_builder_build(struct stack_builder *b, struct roster_thread *th,
			     const struct tracker_sample *s, unsigned *ret_stop)
{
	enum unwind_stop stop;
	size_t n = take_user_frames(b, th->process, s, &stop);
	size_t n_kernel = s->n_kernel;
	struct growth g = { .builder = b, .thread = th, .time_ns = s->time_ns };

	if (s->is_pc_only) { /* one frame: the kernel's when it was there */
		n_kernel = n_kernel ? 1 : 0;
		n = n_kernel ? 0 : n ? 1 : 0;
		stop = UNWIND_END;
	}
	stack_path_begin(&th->path, address_space_version(th->process->space));
	*ret_stop = UNWIND_N_STOPS;
	if (n && !s->is_pc_only)
		*ret_stop = stop < UNWIND_N_STOPS ? stop : UNWIND_BAD_RULE;
	if (n && stop != UNWIND_END)
		add_step(&g, stop, STEP_TRUNCATED);
	add_user_frames(&g, n);
	for (size_t i = n_kernel; i-- > 0;)
		add_step(&g, s->kernel_pcs[i],
			 STEP_KERNEL | (i ? (uint32_t)LOCATION_RETURN : 0));
	return g.stack;
}
