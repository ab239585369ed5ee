/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_attach.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "collect/count_caller.h"
#include "collect/count_detach.h"
#include "collect/count_handover.h"
#include "collect/count_load.h"
#include "collect/count_remote.h"
#include "collect/count_restart.h"
#include "collect/count_seccomp.h"
#include "collect/count_status.h"
#include "collect/count_tracee.h"
#include "host/clock.h"
#include "host/proc_maps.h"
#include "host/procfs.h"
#include "wire/count_program.h"

#define MAPS_MAX    (64u << 20)
#define VDSO_MAX    0x10000
#define ENGINE_AT   0x470000000000ULL /* unless it is taken */
#define PLAIN_FLAGS 0x202
#define MMAP_ERRORS 4096
#define BEGIN_NS    5000000000 /* the engine, which is ready after a millisecond */

/* One that is being attached to. */
struct attach {
	struct count_attached *a;
	struct count_tracees threads;
	struct count_control_thread *native; /* of each */
	struct buf maps;
	char exe[PATH_MAX];
	char prefix[COUNT_DIRECTORY_MAX + 8];
	const char *flags;
	const struct count_look *look; /* NULL: nobody does */
	bool has_changed;	       /* some thread's registers */
	bool is_left_over;	       /* by a recorder that was killed: */
	struct count_attached left_over;
};

static void attach_fini(struct attach *x)
{
	count_tracees_fini(&x->threads);
	free(x->native);
	buf_fini(&x->maps);
}

/* Looking. */

static int read_maps(struct attach *x, struct err *e)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", x->a->pid);
	buf_clear(&x->maps);
	return procfs_read(path, MAPS_MAX, &x->maps, e);
}

static uint64_t find_site(pid_t pid, const struct proc_map *vdso)
{
	uint8_t code[VDSO_MAX];
	size_t n = vdso->end - vdso->start;

	n = n < sizeof(code) ? n : sizeof(code);
	return count_remote_read(pid, vdso->start, code, n)
		       ? count_remote_find_call(code, n, vdso->start)
		       : 0;
}

/* Of our build, as who wrote it there. */
static bool has_own_code(pid_t pid, const struct count_load *load)
{
	for (size_t i = 0; i < load->n_parts; i++) {
		const struct count_load_part *p = &load->parts[i];
		own(freep) uint8_t *is = xcalloc(1, p->data_bytes + 1);

		if (p->is_exec &&
		    (!count_remote_read(pid, ENGINE_AT + p->at, is, p->data_bytes) ||
		     memcmp(is, p->data, p->data_bytes) != 0))
			return false;
	}
	return true;
}

/* A thread executes what was left over, has its stack there, or what gs points at. */
static bool is_any_in(const struct attach *x, uint64_t addr, uint64_t bytes)
{
	vec_each(t, &x->threads.at)
		if (t->regs.rip - addr < bytes || t->regs.rsp - addr < bytes ||
		    t->regs.gs_base - addr < bytes)
			return true;
	return false;
}

static bool is_any_there(struct attach *x)
{
	const struct count_attached *l = &x->left_over;
	own(freep) struct count_control_piece *pieces = NULL;
	size_t n = count_detach_pieces(l, &pieces);

	vec_each(t, &x->threads.at)
		if (!t->is_gone && !count_tracee_get(t, &t->regs))
			return true;
	for (size_t i = 0; i < n; i++)
		if (is_any_in(x, pieces[i].addr, pieces[i].bytes))
			return true;
	return false;
}

/* An engine that a recorder has left in the process, as it was killed, and that no thread
 * is with. */
static bool is_left_over(struct attach *x)
{
	struct count_attached *l = &x->left_over;
	struct count_load load;

	if (count_load_parse(count_program, count_program_size, &load, NULL) < 0)
		return false;
	*l = (struct count_attached){ .pid = x->a->pid,
				      .engine = ENGINE_AT,
				      .engine_bytes = load.bytes,
				      .control = ENGINE_AT + load.bytes };
	if (!count_remote_read(l->pid, l->control, &l->told, sizeof(l->told)) ||
	    l->told.magic != COUNT_CONTROL_MAGIC ||
	    (l->told.state != COUNT_CONTROL_RESTS &&
	     l->told.state != COUNT_CONTROL_LEFT) ||
	    !has_own_code(l->pid, &load))
		return false;
	l->control_bytes = l->told.bytes;
	if (is_any_there(x))
		return false;
	x->is_left_over = true;
	return true;
}

/* What is there already, and where it makes system calls. */
static int look_at_maps(struct attach *x, struct err *e)
{
	const char *at = (const char *)x->maps.data, *end = at + x->maps.size;
	struct proc_map map;

	x->a->site = 0;
	while (proc_maps_next(&at, end, &map)) {
		if (strstr(map.path, "/" COUNT_DIRECTORY_ENGINE) ||
		    (map.start == ENGINE_AT && !x->a->rests && !is_left_over(x)))
			return err_set(e, ERR_UNSUPPORTED, "it is counted already");
		if (!strcmp(map.path, "[vdso]"))
			x->a->site = find_site(x->a->pid, &map);
	}
	return x->a->site ? 0
			  : err_set(e, ERR_UNSUPPORTED,
				    "it has no vDSO to make system calls from");
}

static struct count_tracee *first(struct attach *x)
{
	return &x->threads.at.at[0];
}

static int look_at_thread(struct count_tracee *t, struct count_control_thread *ret,
			  struct err *e)
{
	struct count_restart call;
	enum count_control_call kind;

	if (!count_tracee_get(t, &t->regs) || !count_tracee_get_mask(t, &t->mask))
		return err_os(e, "thread %d has ended", t->tid);
	if (t->regs.gs)
		return err_set(e, ERR_UNSUPPORTED,
			       "it has a selector in gs, which counting needs");

	int rc = count_caller_check(t, e);

	if (rc == 0)
		rc = count_seccomp_check(t->tid, e);
	if (rc < 0)
		return rc;
	call = (struct count_restart){ (int64_t)t->regs.rax, (int64_t)t->regs.orig_rax,
				       t->regs.rip };
	kind = count_restart(&call);
	if (kind) {
		t->regs.rax = (unsigned long)call.result;
		t->regs.rip = call.ip;
	}
	t->regs.orig_rax = -1UL;
	*ret = (struct count_control_thread){ .mask = t->mask, .call = kind };
	count_remote_take(&t->regs, &ret->native);
	return 0;
}

static void drop_ended(struct count_tracees *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->at.n; i++)
		if (!t->at.at[i].is_gone)
			t->at.at[n++] = t->at.at[i];
	t->at.n = n;
}

static int look_at_threads(struct attach *x, struct err *e)
{
	int rc = 0;

	drop_ended(&x->threads);
	if (!x->threads.at.n)
		return err_set(e, ERR_UNSUPPORTED, "it has ended");
	x->native = xcalloc(x->threads.at.n, sizeof(*x->native));
	for (size_t i = 0; i < x->threads.at.n && rc == 0; i++)
		rc = look_at_thread(&x->threads.at.at[i], &x->native[i], e);
	if (rc == 0 && x->look && x->threads.at.n == 1)
		x->look->at(x->look->ctx,
			    &(struct count_stand){ first(x)->tid, x->native[0].native },
			    false);
	return rc;
}

/* Changing. */

static long call(struct attach *x, long number, uint64_t a, uint64_t b, uint64_t c,
		 uint64_t d)
{
	return count_remote_call(first(x), x->a->site, number, a, b, c, d);
}

static uint64_t map_memory(struct attach *x, uint64_t at, uint64_t bytes, struct err *e)
{
	long p = call(x, SYS_mmap, at, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS);

	if (p > 0 || p < -MMAP_ERRORS)
		return (uint64_t)p;
	errno = (int)-p;
	err_os(e, "it cannot have the engine's memory");
	return 0;
}

/* Of the engine's tables all would be filled in. */
static int refuse_locked(struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED, "it locks its memory (mlockall)");
}

static int put_engine(struct attach *x, const struct count_load *load, struct err *e)
{
	struct count_attached *a = x->a;
	uint64_t locked_kb = count_status_locked_kb(a->pid);

	a->engine = map_memory(x, ENGINE_AT, load->bytes, e);
	if (!a->engine)
		return ERR_OS;
	a->engine_bytes = load->bytes;
	if (count_status_locked_kb(a->pid) > locked_kb)
		return refuse_locked(e);
	for (size_t i = 0; i < load->n_parts; i++) {
		const struct count_load_part *p = &load->parts[i];

		if (p->data_bytes && !count_remote_write(a->pid, a->engine + p->at,
							 p->data, p->data_bytes))
			return err_os(e, "cannot write to its memory");
		if (p->is_exec && call(x, SYS_mprotect, a->engine + p->off, p->bytes,
				       PROT_READ | PROT_EXEC, 0) < 0)
			return err_set(e, ERR_UNSUPPORTED,
				       "it may not have new code in its memory");
	}
	return 0;
}

/* Of an engine that rests what it has told stays, and that it rests: should we be killed,
 * the next recorder finds it so. */
static int write_control(const struct count_attached *a, const struct buf *bytes,
			 struct err *e)
{
	size_t told = a->rests ? offsetof(struct count_control, state) : 0;
	size_t behind = a->rests ? sizeof(struct count_control) : 0;

	if ((told && !count_remote_write(a->pid, a->control, bytes->data, told)) ||
	    !count_remote_write(a->pid, a->control + behind, bytes->data + behind,
				bytes->size - behind))
		return err_os(e, "cannot write to its memory");
	return 0;
}

static int put_control(struct attach *x, struct err *e)
{
	struct count_attached *a = x->a;
	own(buf_fini) struct buf bytes = { 0 };
	struct procfs_stat stat = { 0 };
	struct count_handover h = { .maps = (const char *)x->maps.data,
				    .maps_bytes = x->maps.size,
				    .exe = x->exe,
				    .name = stat.comm,
				    .prefix = x->prefix,
				    .flags = x->flags,
				    .owner = clock_monotonic_ns(),
				    .engine = a->engine,
				    .engine_bytes = a->engine_bytes,
				    .threads = x->native,
				    .n_threads = x->threads.at.n };
	int rc = procfs_stat(a->pid, &stat, e);

	if (rc < 0)
		return rc;
	h.room = a->control_bytes;
	count_handover_make(&h, a->control, &bytes);
	if (!a->rests) {
		a->control_bytes = bytes.size + COUNT_HANDOVER_STACK_BYTES;
		a->control =
			map_memory(x, a->engine + a->engine_bytes, a->control_bytes, e);
		if (!a->control)
			return ERR_OS;
		buf_clear(&bytes);
		h.room = a->control_bytes;
		count_handover_make(&h, a->control, &bytes);
	}
	if (bytes.size + COUNT_HANDOVER_STACK_BYTES > a->control_bytes)
		return err_set(e, ERR_UNSUPPORTED,
			       "it has more code or threads than it had");
	return write_control(a, &bytes, e);
}

/* The first thread goes on natively, by itself. */
static bool has_left(const struct attach *x)
{
	return x->a->told.state == COUNT_CONTROL_LEFT;
}

/* Signals are blocked last: should we be killed before, the engine goes on by itself,
 * which blocks them and lets them through again. */
static void lead_again(struct attach *x, const struct user_regs_struct *regs)
{
	uint64_t state = 0, at = x->a->control + offsetof(struct count_control, state);

	count_tracee_set(first(x), regs);
	count_remote_write(x->a->pid, at, &state, sizeof(state));
}

/* In one go: its many system calls would be stops otherwise, each with two switches to us
 * and back. */
static int begin_engine(struct attach *x, const struct count_load *load, struct err *e)
{
	struct count_attached *a = x->a;
	struct user_regs_struct regs = first(x)->regs;
	struct count_control was;
	bool is_told;

	regs.rip = a->rests ? a->told.again : a->engine + load->entry;
	regs.rdi = a->control;
	regs.rcx = COUNT_CONTROL_MAGIC;
	regs.rsp = a->control + a->control_bytes;
	regs.eflags = PLAIN_FLAGS;
	was = a->told;
	if (a->rests)
		lead_again(x, &regs);
	count_tracee_set_mask(first(x), ~COUNT_CONTROL_FAULTS);
	is_told = count_remote_run_through(
		first(x), &regs, a->control + offsetof(struct count_control, state),
		BEGIN_NS);
	if (!count_remote_read(a->pid, a->control, &a->told, sizeof(a->told)))
		return err_set(e, ERR_OS, "it has ended");
	if (!is_told)
		return err_set(e, ERR_UNSUPPORTED, "the engine does not begin in it");
	if (!a->told.n_pieces) { /* it was nowhere yet, or rests */
		a->told.n_pieces = was.n_pieces;
		a->told.pieces = was.pieces;
	}
	a->told.why[sizeof(a->told.why) - 1] = 0;
	if (a->told.state == COUNT_CONTROL_READY)
		return 0;
	return err_set(e, ERR_UNSUPPORTED, "%s",
		       has_left(x) ? "we came too late to take it over" : a->told.why);
}

/* Undoing. */

static void undo(struct attach *x)
{
	if (!x->has_changed)
		return;
	if (!has_left(x)) {
		count_tracee_set_mask(first(x), ~0ULL);
		count_detach_memory(x->a, first(x));
	}
	vec_each(t, &x->threads.at) {
		if (has_left(x) && t == first(x))
			continue;
		count_tracee_set(t, &t->regs);
		count_tracee_set_mask(t, t->mask);
	}
}

/* Beginning. */

/* They stand until we let them go: should we be killed before, none stays with the
 * engine, and its handlers stay the program's. */
static bool tell_led(const struct attach *x)
{
	uint64_t yes = 1;
	uint64_t at = x->a->control + offsetof(struct count_control, are_led);

	return count_remote_write(x->a->pid, at, &yes, sizeof(yes));
}

/* A thread whose signals we block is on its way to the engine, which lets them through
 * again. */
static int hand_over(struct attach *x, struct err *e)
{
	struct count_attached *a = x->a;
	size_t n = x->threads.at.n;

	if (!count_remote_read(a->pid, a->control + sizeof(a->told), x->native,
			       n * sizeof(*x->native)))
		return err_os(e, "cannot read its memory");
	for (size_t i = n; i-- > 0;) {
		struct count_tracee *t = &x->threads.at.at[i];
		struct user_regs_struct regs = t->regs;

		regs.rip = a->told.join;
		regs.rdi = regs.gs_base = x->native[i].context;
		regs.rsp = x->native[i].stack;
		regs.eflags = PLAIN_FLAGS;
		count_tracee_set(t, &regs);
		count_tracee_set_mask(t, ~0ULL);
	}
	return tell_led(x) ? 0 : err_os(e, "cannot write to its memory");
}

static int change(struct attach *x, struct err *e)
{
	struct count_load load;
	int rc = count_load_parse(count_program, count_program_size, &load, e);

	if (rc < 0)
		return rc;
	x->has_changed = true;
	if (!x->a->rests)
		count_tracee_set_mask(first(x), ~0ULL);
	if (x->is_left_over) {
		x->left_over.site = x->a->site;
		count_detach_memory(&x->left_over, first(x));
	}
	if (!x->a->rests)
		rc = put_engine(x, &load, e);
	if (rc == 0)
		rc = put_control(x, e);
	if (rc == 0)
		rc = begin_engine(x, &load, e);
	if (rc == 0)
		rc = hand_over(x, e);
	if (rc < 0)
		undo(x);
	return rc;
}

static void tell(const struct attach *x, enum count_moment moment)
{
	if (x->look)
		x->look->stands(x->look->ctx, moment);
}

static int attach(struct attach *x, struct err *e)
{
	int rc = count_tracees_stop(&x->threads, e);

	if (rc == 0)
		tell(x, COUNT_MOMENT_NATIVE);
	if (rc == 0)
		rc = count_status_check_sharing(x->a->pid, &x->a->alone, e);
	if (rc == 0)
		rc = procfs_exe(x->a->pid, x->exe, sizeof(x->exe), e);
	if (rc == 0)
		rc = read_maps(x, e);
	if (rc == 0)
		rc = look_at_maps(x, e);
	if (rc == 0 && x->a->rests && count_status_locked_kb(x->a->pid))
		rc = refuse_locked(e);
	if (rc == 0)
		rc = look_at_threads(x, e);
	if (rc == 0)
		rc = change(x, e);
	if (rc == 0)
		tell(x, COUNT_MOMENT_TRANSLATED);
	return rc;
}

int count_attach(pid_t pid, const struct count_directory *d, const char *flags,
		 const struct count_look *look, const struct count_attached *resting,
		 struct count_attached *ret, struct err *e)
{
	struct count_attached a =
		resting ? *resting : (struct count_attached){ .pid = pid };
	own(attach_fini) struct attach x = {
		.flags = flags, .look = look, .a = &a, .threads = { .pid = pid }
	};
	struct count_status status;
	char where[64];
	int rc = count_status_check(pid, &status, e);

	if (rc == 0)
		rc = count_directory_check(d, pid, e);
	if (rc == 0)
		rc = count_directory_give(d, status.uid, status.gid, e);
	count_directory_prefix(d, x.prefix);
	if (rc == 0)
		rc = attach(&x, e);
	snprintf(where, sizeof(where), "cannot count process %d", pid);
	if (rc < 0)
		return err_in(e, rc, where);
	a.rests = false;
	*ret = a;
	return 0;
}
