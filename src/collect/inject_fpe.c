/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_fpe.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "collect/inject_stack.h"
#include "collect/inject_status.h"
#include "host/proc_maps.h"
#include "wire/injected.h"

/* In both units exceptions have the same bits, in the same order, as flags and as masks;
 * in MXCSR those of masks are further up. */
#define MASK_SHIFT 7
#define X87_ERROR  0x80	 /* in its status: something is pending */
#define STEP	   0x100 /* in the flags */
#define TYPES	   0x3fu

/* Signals of the C library's own, which programs cannot block: who has them blocked is in
 * a call of it that blocks all, and will soon put another mask back. */
#define INTERNAL     (UINT64_C(3) << 31)
#define N_WAITS_MAX  20
#define RESTORER_MAX 9

/* What the kernel has put on the stack (struct rt_sigframe), from the context on. */
enum {
	FRAME_RETURN = -8,
	FRAME_PC = 168,
	FRAME_FLAGS = 176,
	FRAME_STATE = 224,
	FRAME_MASK = 296,
};
enum {
	STATE_CONTROL = 0,
	STATE_STATUS = 2,
	STATE_MXCSR = 24,
	STATE_MAGIC = 464,
	STATE_PARTS = 512, /* a bit for each that is there: 1 the x87 unit */
};
#define MAGIC 0x46505853

/* What is done about threads of one stop. */
struct work {
	struct inject_fpe *fpe;
	const struct inject_fpe_library *library;
	struct inject_stop *stop;
	VEC(struct wire_injected_thread) list;
	VEC(size_t) index; /* of the stop's, of each; SIZE_MAX: what it has interrupted */
	VEC(struct inject_fpe_frame) frames;
	struct wire_injected_fpe head;
	bool is_busy;
};

#define HEAD_BYTES sizeof(struct wire_injected_fpe)

void inject_fpe_fini(struct inject_fpe *f)
{
	vec_fini(&f->frames);
}

static void work_fini(struct work *w)
{
	vec_fini(&w->list);
	vec_fini(&w->index);
	vec_fini(&w->frames);
}

/* Frames. */

static bool read_at(const struct inject_fpe_library *l, uint64_t at, void *to,
		    size_t bytes)
{
	return inject_memory_read(&l->memory, at, to, bytes);
}

static void write_at(const struct inject_fpe_library *l, uint64_t at, const void *from,
		     size_t bytes)
{
	l->write(l->ctx, at, from, bytes);
}

/* The code to which a handler returns is known, and so is the state's end. */
static bool is_frame(const struct inject_fpe_library *l, uint64_t at, uint64_t *ret_state)
{
	static const uint8_t restorer[RESTORER_MAX] = { 0x48, 0xc7, 0xc0, 0x0f, 0,
							0,    0,    0x0f, 0x05 };
	uint8_t code[sizeof(restorer)];
	uint64_t to;
	uint32_t magic;

	return read_at(l, at + (uint64_t)FRAME_RETURN, &to, sizeof(to)) &&
	       read_at(l, to, code, sizeof(code)) &&
	       memcmp(code, restorer, sizeof(restorer)) == 0 &&
	       read_at(l, at + FRAME_STATE, ret_state, sizeof(*ret_state)) &&
	       *ret_state > at && *ret_state % 64 == 0 &&
	       read_at(l, *ret_state + STATE_MAGIC, &magic, sizeof(magic)) &&
	       magic == MAGIC;
}

static bool read_frame(const struct inject_fpe_library *l, uint64_t at,
		       struct inject_fpe_frame *ret)
{
	struct inject_fpe_frame f = { .at = at };

	if (!is_frame(l, at, &f.state) ||
	    !read_at(l, at + FRAME_PC, &f.pc, sizeof(f.pc)) ||
	    !read_at(l, at + FRAME_FLAGS, &f.flags, sizeof(f.flags)) ||
	    !read_at(l, at + FRAME_MASK, &f.mask, sizeof(f.mask)) ||
	    !read_at(l, f.state + STATE_MXCSR, &f.mxcsr, sizeof(f.mxcsr)) ||
	    !read_at(l, f.state + STATE_CONTROL, &f.control, sizeof(f.control)) ||
	    !read_at(l, f.state + STATE_STATUS, &f.status, sizeof(f.status)) ||
	    f.mxcsr >> 16)
		return false;
	*ret = f;
	return true;
}

static void write_frame(const struct inject_fpe_library *l,
			const struct inject_fpe_frame *f, bool has_x87)
{
	uint64_t parts;

	write_at(l, f->state + STATE_MXCSR, &f->mxcsr, sizeof(f->mxcsr));
	write_at(l, f->at + FRAME_MASK, &f->mask, sizeof(f->mask));
	if (!has_x87 || !read_at(l, f->state + STATE_PARTS, &parts, sizeof(parts)))
		return;
	parts |= 1;
	write_at(l, f->state + STATE_PARTS, &parts, sizeof(parts));
	write_at(l, f->state + STATE_CONTROL, &f->control, sizeof(f->control));
}

/* What is unmasked while something is pending would be signalled at once. */
static bool can_arm_x87(uint16_t status, uint32_t types_x87)
{
	return !(status & (types_x87 | X87_ERROR));
}

static uint32_t unmasked(uint32_t mxcsr)
{
	return ~(mxcsr >> MASK_SHIFT) & TYPES;
}

/* What one of a thread's contexts has enabled is signalled in all of them: where others
 * have not, it stays masked. */
static uint32_t stays_masked(const struct wire_injected_thread *t, uint32_t mxcsr)
{
	return t->allowed & ~unmasked(mxcsr);
}

static void arm_frame(const struct work *w, const struct wire_injected_thread *t,
		      struct inject_fpe_frame *was)
{
	uint32_t without = stays_masked(t, was->mxcsr);
	struct inject_fpe_frame f = *was;
	bool has_x87 = can_arm_x87(f.status, w->head.types_x87);

	was->types = w->head.types & ~without;
	f.mxcsr &= ~(was->types << MASK_SHIFT);
	f.mask &= ~w->head.signals;
	f.control &= (uint16_t) ~(w->head.types_x87 & ~without);
	write_frame(w->library, &f, has_x87);
}

/* One that still is as it was made, or is another by what its program did. */
static void disarm_frame(const struct work *w, const struct inject_fpe_frame *was)
{
	uint32_t masks = was->mxcsr & was->types << MASK_SHIFT;
	struct inject_fpe_frame f;

	if (!read_frame(w->library, was->at, &f) || f.state != was->state ||
	    f.pc != was->pc || f.mxcsr & masks)
		return;
	f.mxcsr |= masks;
	f.mask |= was->mask & w->head.signals;
	f.control |= was->control & (uint16_t)(w->head.types_x87 & was->types);
	write_frame(w->library, &f, can_arm_x87(was->status, w->head.types_x87));
}

/* Threads. */

static void take_frame(void *ctx, uint64_t at)
{
	struct work *w = ctx;
	struct wire_injected_thread *thread;
	struct inject_fpe_frame f;
	size_t first = w->index.n - 1;

	if (!read_frame(w->library, at, &f))
		return;
	*vec_push(&w->frames) = f;
	w->is_busy |= (f.flags & STEP) != 0;
	while (w->index.at[first] == SIZE_MAX)
		first--;
	w->list.at[first].blocked &= f.mask;
	w->list.at[first].allowed |= unmasked(f.mxcsr);
	thread = vec_push(&w->list);
	*thread = w->list.at[first];
	thread->pc = f.pc;
	*vec_push(&w->index) = SIZE_MAX;
}

static int not_now(struct err *e)
{
	return err_set(e, ERR_LIMIT, "threads of it are where they cannot be changed");
}

static bool has_internal_mask(struct inject_fpe *f, const struct inject_stop_thread *t)
{
	return (t->mask & INTERNAL) == INTERNAL && f->n_waits < N_WAITS_MAX;
}

void inject_fpe_find(struct inject_fpe *f, uint64_t address, const char *maps,
		     size_t maps_bytes)
{
	own(freep) struct proc_map *map = xcalloc(1, sizeof(*map));
	const char *end = maps + maps_bytes;

	f->code = f->code_end = 0;
	while (address && proc_maps_next(&maps, end, map)) {
		if (address < map->start || address >= map->end)
			continue;
		f->code = map->start;
		f->code_end = map->end;
	}
}

/* The kernel lets a step's trap end who ignores it. */
int inject_fpe_lead_out(struct inject_fpe *f, pid_t pid, struct inject_stop *s,
			struct err *e)
{
	if (inject_status_ignores(pid, SIGTRAP) ||
	    inject_stop_lead_out(s, f->code, f->code_end) || f->n_within >= N_WAITS_MAX)
		return 0;
	f->n_within++;
	return not_now(e);
}

static bool take_thread(struct work *w, size_t i)
{
	struct inject_stop_thread t;

	if (!inject_stop_get(w->stop, i, &t))
		return true;
	if (has_internal_mask(w->fpe, &t))
		return false;
	*vec_push(&w->list) = (struct wire_injected_thread){
		.pointer = t.pointer,
		.pc = t.pc,
		.blocked = t.mask,
		.allowed = unmasked(t.mxcsr),
		.tid = inject_stop_tid(w->stop, i, w->library->tid_at)
	};
	*vec_push(&w->index) = i;
	w->is_busy |= (t.status & X87_ERROR) != 0;
	inject_stack_each(&w->library->memory, t.sp, take_frame, w);
	return true;
}

static int take_threads(struct work *w, struct err *e)
{
	for (size_t i = 0; i < inject_stop_n(w->stop); i++)
		if (!take_thread(w, i)) {
			w->fpe->n_waits++;
			return not_now(e);
		}
	w->head.n_threads = (uint32_t)w->list.n;
	return w->list.n <= WIRE_INJECTED_THREADS
		       ? 0
		       : err_set(e, ERR_UNSUPPORTED, "it has too many threads");
}

/* The library is told of the threads, and tells of them. */
static int run(struct work *w, const char *entry, uint64_t *ret_state, struct err *e)
{
	const struct inject_fpe_library *l = w->library;
	size_t bytes = w->list.n * sizeof(w->list.at[0]);
	int rc;

	if (!l->write(l->ctx, l->at, &w->head, HEAD_BYTES) ||
	    !l->write(l->ctx, l->at + HEAD_BYTES, w->list.at, bytes))
		return err_os(e, "cannot write to its memory");
	rc = l->run(l->ctx, w->stop, entry, ret_state, e);
	if (rc < 0)
		return rc;
	return read_at(l, l->at, &w->head, HEAD_BYTES) &&
			       read_at(l, l->at + HEAD_BYTES, w->list.at, bytes)
		       ? 0
		       : err_os(e, "cannot read its memory");
}

static void arm_thread(const struct work *w, size_t i,
		       const struct wire_injected_thread *has)
{
	struct inject_stop_thread t;
	uint16_t pending;
	uint32_t without;

	if (!inject_stop_get(w->stop, i, &t))
		return;
	without = stays_masked(has, t.mxcsr);
	pending = t.status & (uint16_t)w->head.types_x87;
	t.mask &= ~w->head.signals;
	t.mxcsr &= ~((w->head.types & ~without) << MASK_SHIFT);
	if (!(t.status & X87_ERROR)) {
		t.status &= (uint16_t)~pending;
		t.mxcsr |= pending; /* who tests flags looks at both */
		t.control &= (uint16_t) ~(w->head.types_x87 & ~without);
	}
	inject_stop_set(w->stop, i, &t);
}

static void disarm_thread(const struct work *w, size_t i,
			  const struct wire_injected_thread *has, uint32_t types,
			  uint32_t types_x87)
{
	struct inject_stop_thread t;

	if (!inject_stop_get(w->stop, i, &t))
		return;
	t.mask |= has->blocked;
	t.mxcsr |= (types & ~has->allowed) << MASK_SHIFT;
	t.control |= (uint16_t)(types_x87 & ~has->allowed);
	inject_stop_set(w->stop, i, &t);
}

static int arm(struct work *w, struct err *e)
{
	const struct wire_injected_thread *thread = NULL; /* whose frames follow */
	uint64_t state;
	int rc = take_threads(w, e);

	if (rc == 0)
		rc = run(w, WIRE_INJECTED_ARM, &state, e);
	if (rc < 0)
		return rc;
	for (size_t k = 0, frame = 0; k < w->index.n; k++) {
		const struct wire_injected_thread *t = &w->list.at[k];

		if (w->index.at[k] != SIZE_MAX) {
			thread = t;
			arm_thread(w, w->index.at[k], t);
			continue;
		}
		arm_frame(w, thread, &w->frames.at[frame]);
		*vec_push(&w->fpe->frames) = w->frames.at[frame++];
	}
	w->fpe->n_waits = w->fpe->n_within = 0;
	return 0;
}

int inject_fpe_arm(struct inject_fpe *f, const struct inject_fpe_library *l,
		   struct inject_stop *s, struct err *e)
{
	struct work w = { .fpe = f, .library = l, .stop = s };
	int rc = arm(&w, e);

	work_fini(&w);
	return rc;
}

static int disarm(struct work *w, struct err *e)
{
	uint32_t types = w->head.types, types_x87 = w->head.types_x87;
	uint64_t state = WIRE_INJECTED_READY;
	int rc = take_threads(w, e);

	if (rc == 0 && !w->is_busy)
		rc = run(w, WIRE_INJECTED_DISARM, &state, e);
	if (rc == 0 && state != WIRE_INJECTED_OVER)
		rc = not_now(e);
	if (rc < 0)
		return rc;
	w->head.types = types;
	w->head.types_x87 = types_x87;
	for (size_t k = 0; k < w->index.n; k++)
		if (w->index.at[k] != SIZE_MAX)
			disarm_thread(w, w->index.at[k], &w->list.at[k], types,
				      types_x87);
	vec_each(f, &w->fpe->frames)
		disarm_frame(w, f);
	return 0;
}

int inject_fpe_disarm(struct inject_fpe *f, const struct inject_fpe_library *l,
		      struct inject_stop *s, struct err *e)
{
	struct work w = { .fpe = f, .library = l, .stop = s };
	int rc;

	if (!read_at(l, l->at, &w.head, HEAD_BYTES) || !w.head.types)
		return 0;
	rc = disarm(&w, e);
	work_fini(&w);
	return rc;
}
