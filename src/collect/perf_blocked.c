/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_blocked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "collect/perf_regs.h"
#include "host/clock.h"
#include "host/kernel_names.h"
#include "host/proc_wait.h"
#include "host/procfs.h"

#define KERNEL_FRAMES_MAX 64
#define KALLSYMS_MAX	  ((size_t)256 << 20)
/* Of a stack: what is read at once, and what at most. */
#define PIECE_BYTES ((size_t)16 << 10)
#define STACK_BYTES ((size_t)8 << 20)
/* A thread that keeps waking up shows its stack itself. */
#define ATTEMPTS 3

struct perf_blocked {
	struct tracker *tracker;
	struct perf_waits *waits;
	struct buf kallsyms;
	struct kernel_names *names; /* NULL: user stacks only */
};

static void read_names(struct perf_blocked *b)
{
	if (procfs_read("/proc/kallsyms", KALLSYMS_MAX, &b->kallsyms, NULL) < 0)
		buf_clear(&b->kallsyms);
	b->names = kernel_names_new(buf_str(&b->kallsyms), b->kallsyms.size);
}

/* The names are read now: it takes so long that a wait which had begun would seem to
 * reach back to before the recording. */
struct perf_blocked *perf_blocked_new(struct tracker *t, struct perf_waits *w,
				      bool has_kernel)
{
	struct perf_blocked *b = xcalloc(1, sizeof(*b));

	b->tracker = t;
	b->waits = w;
	if (has_kernel)
		read_names(b);
	return b;
}

void perf_blocked_free(struct perf_blocked *b)
{
	if (!b)
		return;
	kernel_names_free(b->names);
	buf_fini(&b->kallsyms);
	free(b);
}

void perf_blocked_freep(struct perf_blocked **b)
{
	perf_blocked_free(*b);
}

/* The stack, read outwards as far as the walk asks for it. */
struct outside {
	pid_t pid;
	uint64_t addr;
	struct buf bytes;
	bool has_ended;
};

static void read_piece(struct outside *o)
{
	size_t n = proc_wait_memory(o->pid, o->addr + o->bytes.size,
				    buf_reserve(&o->bytes, PIECE_BYTES), PIECE_BYTES);

	o->bytes.size += n;
	o->has_ended = n < PIECE_BYTES || o->bytes.size >= STACK_BYTES;
}

static bool read_word(void *ctx, uint64_t addr, uint64_t *ret)
{
	struct outside *o = ctx;
	uint64_t off = addr - o->addr;

	if (off >= STACK_BYTES)
		return false;
	while (!o->has_ended && off + sizeof(*ret) > o->bytes.size)
		read_piece(o);
	if (off + sizeof(*ret) > o->bytes.size)
		return false;
	memcpy(ret, o->bytes.data + off, sizeof(*ret));
	return true;
}

/* A frame that cannot be told apart from others takes its callees with it: what is left
 * is the true outer part. */
static size_t kernel_frames(const struct perf_blocked *b, pid_t pid, pid_t tid,
			    uint64_t *pcs)
{
	struct proc_wait_kernel_frame f;
	char path[80], text[8192];
	const char *at = text;
	size_t n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stack", pid, tid);
	if (!b->names || procfs_read_text(path, text, sizeof(text), NULL) < 0)
		return 0;
	while (n < KERNEL_FRAMES_MAX && proc_wait_next_kernel_frame(&at, &f)) {
		if (kernel_names_find(b->names, &f, &pcs[n]))
			n++;
		else
			n = 0;
	}
	return n;
}

/* Returns the stack's id, 0 when the thread did not stand still. */
static uint32_t take_stack(struct perf_blocked *b, uint64_t now_ns, pid_t pid, pid_t tid)
{
	uint64_t kernel_pcs[KERNEL_FRAMES_MAX];
	struct proc_wait w;
	struct unwind_regs regs;

	if (proc_wait_read(pid, tid, &w, NULL) < 0)
		return 0;
	perf_regs_blocked(w.sp, w.pc, &regs);

	struct outside o = { .pid = pid, .addr = w.sp };
	struct tracker_sample s = {
		.time_ns = now_ns,
		.pid = (uint32_t)pid,
		.tid = (uint32_t)tid,
		.kernel_pcs = kernel_pcs,
		.n_kernel = kernel_frames(b, pid, tid, kernel_pcs),
		.regs = &regs,
		.memory = { .stack_addr = w.sp, .read = read_word, .ctx = &o },
	};
	uint32_t stack = tracker_stack(b->tracker, &s);

	buf_fini(&o.bytes);
	return proc_wait_still(pid, tid, &w) ? stack : 0;
}

static bool is_blocked(pid_t pid, pid_t tid)
{
	struct procfs_stat stat;

	return procfs_task_stat(pid, tid, &stat, NULL) == 0 && stat.state != 'R';
}

void perf_blocked_begin(struct perf_blocked *b, pid_t pid, pid_t tid)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint32_t stack = 0;

	if (!is_blocked(pid, tid))
		return;
	for (unsigned i = 0; i < ATTEMPTS && !stack; i++) {
		now_ns = clock_monotonic_ns();
		stack = take_stack(b, now_ns, pid, tid);
	}
	perf_waits_begin(b->waits, now_ns, (uint32_t)pid, (uint32_t)tid, true);
	perf_waits_stack(b->waits, (uint32_t)pid, (uint32_t)tid, stack);
}
