/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_stacks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "collect/jit_files.h"
#include "collect/kernel_frames.h"
#include "collect/own_library.h"
#include "collect/pseudo_image.h"
#include "collect/stack_path.h"
#include "collect/system_images.h"
#include "host/executable.h"

_Static_assert((int)STACK_STOP_END == (int)UNWIND_END, "one numbering");
_Static_assert((int)STACK_STOP_NO_MAP == (int)UNWIND_NO_MAP, "one numbering");
_Static_assert((int)STACK_STOP_NO_TABLE == (int)UNWIND_NO_TABLE, "one numbering");
_Static_assert((int)STACK_STOP_BAD_RULE == (int)UNWIND_BAD_RULE, "one numbering");
_Static_assert((int)STACK_STOP_BAD_MEMORY == (int)UNWIND_BAD_MEMORY, "one numbering");
_Static_assert((int)STACK_STOP_LIMIT == (int)UNWIND_LIMIT, "one numbering");
_Static_assert((int)STACK_STOP_NO_PROGRESS == (int)UNWIND_NO_PROGRESS, "one numbering");
_Static_assert((int)STACK_STOP_NO_REGISTER == (int)UNWIND_NO_REGISTER, "one numbering");
_Static_assert((int)STACK_STOP_32BIT == (int)UNWIND_32BIT, "one numbering");
_Static_assert((int)STACK_STOP_NOT_LOADED == (int)UNWIND_NOT_LOADED, "one numbering");

#define OBJECT_MAX 40

#define PATHS 64 /* kinds whose last stacks are remembered */

/* What a step of a path is, besides its frame; those of code that no file explains have
 * their process here. */
#define STEP_FILE	 0
#define STEP_KERNEL	 UINT32_MAX
#define STEP_KERNEL_LEAF (UINT32_MAX - 1)
#define STEP_TRUNCATED	 (UINT32_MAX - 2)
#define STEP_LABEL	 (UINT32_MAX - 3)
#define STEP_OWN	 (UINT32_MAX - 4)

struct system_stacks {
	struct system_images *images;
	struct writer *writer;
	struct kernel_frames *kernel;
	struct jit_files *jit;
	struct map code_images; /* pid → image of code without a file */
	struct map labels;	/* string → image */
	uint32_t unknown, truncated, own;
	struct stack_path paths[PATHS];
};

/* A stack as it grows, the outermost frame first; path is NULL where it is not
 * remembered. */
struct growing {
	struct system_stacks *s;
	const struct stack_record *record;
	struct stack_path *path;
	size_t n;
	uint32_t stack;
};

struct system_stacks *system_stacks_new(struct system_images *images, struct writer *w)
{
	struct system_stacks *s = xcalloc(1, sizeof(*s));

	s->images = images;
	s->writer = w;
	s->kernel = kernel_frames_new(w);
	s->jit = jit_files_new(w);
	s->unknown = s->truncated = s->own = MODEL_NONE;
	return s;
}

void system_stacks_free(struct system_stacks *s)
{
	if (!s)
		return;
	kernel_frames_free(s->kernel);
	jit_files_free(s->jit);
	map_fini(&s->code_images);
	map_fini(&s->labels);
	for (unsigned i = 0; i < PATHS; i++)
		stack_path_fini(&s->paths[i]);
	free(s);
}

void system_stacks_freep(struct system_stacks **s)
{
	system_stacks_free(*s);
}

/* Code that no file explains is of one process. */
static uint32_t code_image(struct system_stacks *s, uint32_t pid)
{
	bool is_new, is_jit;
	uint64_t *slot = map_slot(&s->code_images, pid, &is_new);

	if (!is_new)
		return (uint32_t)*slot;
	is_jit = jit_files_has(s->jit, pid);
	*slot = writer_image(
		s->writer,
		&(struct model_image){
			.path = writer_string(s->writer, is_jit ? "[jit]" : "[anon]"),
			.kind = is_jit ? IMAGE_JIT : IMAGE_ANON,
			.pid = pid });
	if (is_jit)
		jit_files_set_image(s->jit, pid, (uint32_t)*slot);
	return (uint32_t)*slot;
}

static uint32_t truncated_location(struct growing *g, uint64_t stop)
{
	struct system_stacks *s = g->s;

	return writer_location(
		s->writer,
		pseudo_image(s->writer, &s->truncated, IMAGE_TRUNCATED, "[truncated]"),
		stop, 0);
}

/* Of what no file explains. */
static uint64_t address_of(uint64_t frame)
{
	uint64_t high = (frame >> STACK_RECORD_IMAGE_SHIFT) - STACK_RECORD_ADDRESS;

	return high << STACK_RECORD_OFFSET_BITS | (frame & STACK_RECORD_OFFSET);
}

static uint32_t user_location(struct growing *g, uint64_t frame)
{
	struct system_stacks *s = g->s;
	uint32_t flags = frame & STACK_RECORD_EXACT ? 0 : LOCATION_RETURN;
	uint32_t image = (uint32_t)(frame >> STACK_RECORD_IMAGE_SHIFT);

	if (image == STACK_RECORD_UNMAPPED)
		return writer_location(
			s->writer,
			pseudo_image(s->writer, &s->unknown, IMAGE_UNKNOWN, "[unknown]"),
			0, 0);
	if (image < STACK_RECORD_ADDRESS)
		return writer_location(s->writer, system_images_id(s->images, image),
				       frame & STACK_RECORD_OFFSET, flags);
	return writer_location(s->writer, code_image(s, g->record->pid),
			       address_of(frame), flags);
}

/* What is called so. */
static uint32_t location_of_label(struct system_stacks *s, uint64_t path)
{
	bool is_new;
	uint64_t *image = map_slot(&s->labels, path, &is_new);

	if (is_new)
		*image = writer_image(s->writer,
				      &(struct model_image){ .path = (uint32_t)path,
							     .kind = IMAGE_LABEL });
	return writer_location(s->writer, (uint32_t)*image, 0, 0);
}

static uint32_t label_location(struct growing *g, uint64_t path)
{
	return location_of_label(g->s, path);
}

static uint32_t own_location(struct growing *g, uint64_t frame unused)
{
	return own_library_location(g->s->writer, &g->s->own);
}

static uint32_t kernel_location(struct growing *g, uint64_t pc)
{
	return kernel_frames_location(g->s->kernel, pc, LOCATION_RETURN);
}

static uint32_t kernel_leaf_location(struct growing *g, uint64_t pc)
{
	return kernel_frames_location(g->s->kernel, pc, 0);
}

/* The next frame inwards. */
static void grow(struct growing *g, uint64_t frame, uint32_t step,
		 uint32_t (*location)(struct growing *g, uint64_t frame))
{
	uint32_t known =
		g->path ? stack_path_match(g->path, g->n++, frame, step) : UINT32_MAX;

	if (known != UINT32_MAX) {
		g->stack = known;
		return;
	}
	g->stack = writer_stack(g->s->writer, g->stack, location(g, frame));
	if (g->path)
		stack_path_push(g->path, frame, step, g->stack);
}

static uint32_t step_of(uint64_t frame, uint32_t pid)
{
	return frame >> STACK_RECORD_IMAGE_SHIFT < STACK_RECORD_ADDRESS ? STEP_FILE : pid;
}

/* The outermost frame is where the kernel started the program, or its linker. */
static bool is_entry(const struct system_stacks *s, uint64_t frame)
{
	uint32_t image = (uint32_t)(frame >> STACK_RECORD_IMAGE_SHIFT);

	return executable_is_entry(system_images_entry(s->images, image),
				   frame & STACK_RECORD_OFFSET);
}

struct user_part {
	const struct system_stacks *s;
	const uint64_t *frames;
	size_t n;
};

static struct user_part user_part(const struct system_stacks *s,
				  const struct stack_record *r)
{
	return (struct user_part){ s, r->frames + r->n_kernel, r->n_user };
}

static enum own_library_code whose(void *ctx, size_t i)
{
	const struct user_part *u = ctx;
	uint32_t image = (uint32_t)(u->frames[i] >> STACK_RECORD_IMAGE_SHIFT);

	return image < STACK_RECORD_ADDRESS ? system_images_whose(u->s->images, image)
					    : own_library_at(address_of(u->frames[i]));
}

bool system_stacks_is_own(const struct system_stacks *s, const struct stack_record *r)
{
	struct user_part u = user_part(s, r);

	return own_library_innermost(u.n, whose, &u) > 0;
}

static enum unwind_stop stop_of(const struct system_stacks *s,
				const struct stack_record *r)
{
	if (!r->n_user)
		return UNWIND_N_STOPS;
	if (is_entry(s, r->frames[r->n_kernel + r->n_user - 1]))
		return UNWIND_END;
	return r->stop < UNWIND_N_STOPS ? r->stop : UNWIND_BAD_RULE;
}

static void grow_by(struct growing *g, const struct stack_record *r,
		    enum unwind_stop stop)
{
	struct user_part u = user_part(g->s, r);
	size_t n_ours = own_library_innermost(u.n, whose, &u);

	g->record = r;
	if (stop != UNWIND_N_STOPS && stop != UNWIND_END)
		grow(g, stop, STEP_TRUNCATED, truncated_location);
	for (size_t i = u.n; i-- > n_ours;)
		if (whose(&u, i) != OWN_LIBRARY_OURS)
			grow(g, u.frames[i], step_of(u.frames[i], r->pid), user_location);
	if (n_ours)
		grow(g, 0, STEP_OWN, own_location);
	for (uint32_t i = r->n_kernel; i-- > 1;)
		grow(g, r->frames[i], STEP_KERNEL, kernel_location);
	if (r->n_kernel)
		grow(g, r->frames[0], STEP_KERNEL_LEAF, kernel_leaf_location);
}

uint32_t system_stacks_id(struct system_stacks *s, const struct stack_record *r,
			  uint32_t kind, enum unwind_stop *ret_stop)
{
	struct growing g = { .s = s, .path = &s->paths[kind % PATHS] };

	*ret_stop = stop_of(s, r);
	stack_path_begin(g.path, kind);
	grow_by(&g, r, *ret_stop);
	return g.stack;
}

uint32_t system_stacks_labelled_id(struct system_stacks *s, const struct stack_record *r,
				   const char *const *labels, size_t n_labels,
				   uint32_t kind, enum unwind_stop *ret_stop)
{
	struct growing g = { .s = s, .path = &s->paths[kind % PATHS] };

	*ret_stop = stop_of(s, r);
	stack_path_begin(g.path, kind);
	grow_by(&g, r, *ret_stop);
	for (size_t i = 0; i < n_labels; i++)
		if (*labels[i])
			grow(&g, writer_string(s->writer, labels[i]), STEP_LABEL,
			     label_location);
	return g.stack;
}

/* Where it is of a file's data as that is linked, which symbols may name. */
static bool variable_location(struct system_stacks *s, uint64_t object, uint32_t *ret)
{
	uint32_t image = (uint32_t)(object >> STACK_RECORD_IMAGE_SHIFT);
	uint64_t linked;

	if (image >= STACK_RECORD_ADDRESS ||
	    !system_images_data(s->images, image, object & STACK_RECORD_OFFSET, &linked))
		return false;
	*ret = writer_location(s->writer, system_images_id(s->images, image), linked,
			       LOCATION_VARIABLE);
	return true;
}

/* Else what tells it from others, "[0x7f0012345678]". */
static bool address_location(struct system_stacks *s, uint64_t object, uint32_t *ret)
{
	uint32_t image = (uint32_t)(object >> STACK_RECORD_IMAGE_SHIFT);
	char text[OBJECT_MAX];

	if (image < STACK_RECORD_ADDRESS)
		return false;
	snprintf(text, sizeof(text), "[0x%" PRIx64 "]", address_of(object));
	*ret = location_of_label(s, writer_string(s->writer, text));
	return true;
}

uint32_t system_stacks_object(struct system_stacks *s, uint32_t stack,
			      const struct stack_record *r)
{
	uint32_t location;

	if (!variable_location(s, r->behind ? r->behind : r->object, &location) &&
	    !address_location(s, r->object, &location))
		return stack;
	return writer_stack(s->writer, stack, location);
}

uint32_t system_stacks_label(struct system_stacks *s, uint32_t stack, const char *label)
{
	return writer_stack(s->writer, stack,
			    location_of_label(s, writer_string(s->writer, label)));
}

uint32_t system_stacks_append(struct system_stacks *s, uint32_t stack,
			      const struct stack_record *r)
{
	struct growing g = { .s = s, .stack = stack };

	grow_by(&g, r, stop_of(s, r));
	return g.stack;
}

uint32_t system_stacks_pair_id(struct system_stacks *s, const struct stack_record *waiter,
			       const struct stack_record *waker, const char *label,
			       uint32_t kind)
{
	struct growing g = { .s = s, .path = &s->paths[kind % PATHS] };

	stack_path_begin(g.path, kind);
	grow_by(&g, waiter, stop_of(s, waiter));
	grow(&g, writer_string(s->writer, label), STEP_LABEL, label_location);
	grow_by(&g, waker, stop_of(s, waker));
	return g.stack;
}

int system_stacks_keep_names(struct system_stacks *s, bool has_symbols, struct err *e)
{
	int rc = has_symbols ? kernel_frames_keep_symbols(s->kernel, e) : 0;
	int rc2 = jit_files_keep(s->jit, rc ? NULL : e);

	return rc ? rc : rc2;
}
