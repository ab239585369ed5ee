/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_counters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "base/mem.h"
#include "collect/anchor_gap.h"
#include "collect/count_remote.h"
#include "collect/count_seccomp.h"
#include "collect/count_status.h"
#include "collect/count_tracee.h"
#include "host/clock.h"
#include "host/proc_maps.h"
#include "host/procfs.h"

#define MAPS_MAX      (64u << 20)
#define PAGE_BYTES    4096u
#define AREA_BYTES    (2 * PAGE_BYTES) /* code, and counters behind the mark */
#define CODE_BYTES    64u	       /* of each */
#define AREA_COUNTERS (PAGE_BYTES / CODE_BYTES)
#define CALL_OPCODE   0xe8
#define JUMP_OPCODE   0xe9
#define VDSO_MAX      0x10000
#define CODE_64BIT    0x33 /* cs */
#define MMAP_ERRORS   4096

/* The process while it stands. */
struct visit {
	struct anchor_counters *c;
	struct count_tracees threads;
	struct buf maps;
	uint64_t site; /* of an instruction that makes system calls */
};

static void visit_fini(struct visit *v)
{
	count_tracees_fini(&v->threads);
	buf_fini(&v->maps);
}

void anchor_counters_fini(struct anchor_counters *c)
{
	vec_fini(&c->at);
}

/* Of a process that stands nothing is missing. */
static void read_time(struct anchor_counters *c)
{
	clockid_t clock;

	if (clock_getcpuclockid(c->pid, &clock) == 0)
		c->stood_ns = clock_read_ns(clock);
}

/* What is known of it is asked for when it stands: before it may execute another
 * program.  Who else has the same memory does not stand, and would be counted as well. */
static int begin_visit(struct visit *v, struct err *e)
{
	int rc;

	v->threads.pid = v->c->pid;
	rc = count_tracees_stop(&v->threads, e);
	vec_each(t, &v->threads.at)
		if (rc == 0 && !t->is_gone &&
		    (!count_tracee_get(t, &t->regs) || t->regs.cs != CODE_64BIT))
			rc = err_set(e, ERR_UNSUPPORTED, "it executes other code");
	if (rc == 0 && !anchor_counters_read(v->c))
		return err_set(e, ERR_OS, "it executes another program");
	if (rc == 0)
		read_time(v->c);
	return rc == 0 ? count_status_check_sharing(v->c->pid, &v->c->alone, e) : rc;
}

static struct count_tracee *first(struct visit *v)
{
	vec_each(t, &v->threads.at)
		if (!t->is_gone)
			return t;
	return NULL;
}

/* Areas. */

static int read_maps(struct visit *v, struct err *e)
{
	char path[64];
	const char *at, *end;
	struct proc_map map;
	uint8_t code[VDSO_MAX];
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/maps", v->c->pid);
	buf_clear(&v->maps);
	rc = procfs_read(path, MAPS_MAX, &v->maps, e);
	if (rc < 0)
		return rc;
	at = (const char *)v->maps.data;
	end = at + v->maps.size;
	while (proc_maps_next(&at, end, &map)) {
		size_t n = map.end - map.start;

		n = n < sizeof(code) ? n : sizeof(code);
		if (!strcmp(map.path, "[vdso]") &&
		    count_remote_read(v->c->pid, map.start, code, n))
			v->site = count_remote_find_call(code, n, map.start);
	}
	return v->site ? 0 : err_set(e, ERR_UNSUPPORTED, "it has no vDSO");
}

/* The code may be executed, the counters written. */
static bool map_area(struct visit *v, struct count_tracee *t, uint64_t addr)
{
	long p = count_remote_call(t, v->site, SYS_mmap, addr, AREA_BYTES,
				   PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE);

	if (p < 0 && p > -MMAP_ERRORS)
		return false;
	return (uint64_t)p == addr &&
	       count_remote_write(v->c->pid, addr + PAGE_BYTES, &v->c->mark,
				  sizeof(v->c->mark)) &&
	       count_remote_call(t, v->site, SYS_mprotect, addr, PAGE_BYTES,
				 PROT_READ | PROT_EXEC, 0) == 0;
}

/* By a thread that stands as before afterwards. */
static bool make_area(struct visit *v, uint64_t addr)
{
	struct count_tracee *t = first(v);
	bool is_made;

	if (!t || count_seccomp_check(t->tid, NULL) < 0 ||
	    !count_tracee_get(t, &t->regs) || !count_tracee_get_mask(t, &t->mask) ||
	    !count_tracee_set_mask(t, ~0ULL))
		return false;
	is_made = map_area(v, t, addr);
	/* Where the kernel makes the call again that it was in. */
	is_made &= count_tracee_stop_again(t);
	count_tracee_set(t, &t->regs);
	count_tracee_set_mask(t, t->mask);
	return is_made;
}

static bool is_reached(const struct anchor_counters_area *a, uint64_t addr)
{
	uint64_t away = addr > a->start ? addr - a->start : a->start - addr;

	return away < ANCHOR_GAP_REACH;
}

static bool can_have(const struct anchor_counters_area *a, const struct anchor_site *s)
{
	return a->n < AREA_COUNTERS && is_reached(a, s->addr) && is_reached(a, s->target);
}

static struct anchor_counters_area *area_for(struct visit *v, const struct anchor_site *s)
{
	struct anchor_counters *c = v->c;
	struct anchor_counters_area new = { 0 };

	for (size_t i = 0; i < c->n_areas; i++)
		if (can_have(&c->areas[i], s))
			return &c->areas[i];
	if (c->n_areas == ANCHOR_COUNTERS_AREAS)
		return NULL;
	new.start = anchor_gap_find((const char *)v->maps.data, v->maps.size, s->addr,
				    AREA_BYTES);
	for (size_t i = 0; i < c->n_areas; i++)
		if (new.start == c->areas[i].start)
			return NULL; /* it is full */
	if (!new.start || !can_have(&new, s) || !make_area(v, new.start))
		return NULL;
	c->areas[c->n_areas] = new;
	return &c->areas[c->n_areas++];
}

/* Code. */

/* All of what it changes is as before, but for the counter; below the stack pointer there
 * may be what belongs to the function that jumps. */
static const uint8_t add_one[] = {
	0x48, 0x8d, 0x64, 0x24, 0x80,			/* lea -128(%rsp), %rsp */
	0x50,						/* push %rax */
	0x9f,						/* lahf */
	0x0f, 0x90, 0xc0,				/* seto %al */
	0xf0, 0x48, 0xff, 0x05, 0,    0,    0,	  0,	/* lock incq counter(%rip) */
	0x04, 0x7f,					/* add $127, %al */
	0x9e,						/* sahf */
	0x58,						/* pop %rax */
	0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00, /* lea 128(%rsp), %rsp */
	0xe9, 0,    0,	  0,	0,			/* jmp target */
};
#define COUNTER_AT 14u
#define TARGET_AT  (sizeof(add_one) - 4)
_Static_assert(sizeof(add_one) <= CODE_BYTES, "each has its room");

static uint64_t code_of(const struct anchor_counters_area *a, uint32_t number)
{
	return a->start + (uint64_t)number * CODE_BYTES;
}

static uint64_t counter_of(const struct anchor_counters_area *a, uint32_t number)
{
	return a->start + PAGE_BYTES + (1 + (uint64_t)number) * sizeof(uint64_t);
}

/* How far from behind the four bytes that say so. */
static int32_t distance(uint64_t bytes_at, uint64_t to)
{
	return (int32_t)(to - (bytes_at + sizeof(int32_t)));
}

/* It is not written to otherwise: a tracer may. */
static bool poke(struct visit *v, uint64_t addr, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i += sizeof(long)) {
		size_t part = n - i < sizeof(long) ? n - i : sizeof(long);
		long word;

		errno = 0;
		word = ptrace(PTRACE_PEEKTEXT, first(v)->tid, addr + i, 0);
		if (errno)
			return false;
		memcpy(&word, bytes + i, part);
		if (ptrace(PTRACE_POKETEXT, first(v)->tid, addr + i, word) < 0)
			return false;
	}
	return true;
}

static void make_code(const struct anchor_counters_area *a,
		      const struct anchor_counter *x, uint8_t code[sizeof(add_one)])
{
	uint64_t at = code_of(a, x->number);
	int32_t counter = distance(at + COUNTER_AT, counter_of(a, x->number)),
		target = distance(at + TARGET_AT, x->site.target);

	memcpy(code, add_one, sizeof(add_one));
	memcpy(code + COUNTER_AT, &counter, sizeof(counter));
	memcpy(code + TARGET_AT, &target, sizeof(target));
}

static bool write_code(struct visit *v, const struct anchor_counters_area *a,
		       const struct anchor_counter *x)
{
	uint8_t code[sizeof(add_one)];

	make_code(a, x, code);
	return poke(v, code_of(a, x->number), code, sizeof(code));
}

static bool has_code(pid_t pid, const struct anchor_counters_area *a,
		     const struct anchor_counter *x)
{
	uint8_t code[sizeof(add_one)], is[sizeof(add_one)];

	make_code(a, x, code);
	return count_remote_read(pid, code_of(a, x->number), is, sizeof(is)) &&
	       !memcmp(is, code, sizeof(is));
}

static bool leads(pid_t pid, const struct anchor_site *s, uint64_t to)
{
	int32_t is = distance(s->addr + 1, to);
	uint8_t code[ANCHOR_SITE_BYTES];

	return count_remote_read(pid, s->addr, code, sizeof(code)) &&
	       (code[0] == CALL_OPCODE || code[0] == JUMP_OPCODE) &&
	       !memcmp(code + 1, &is, sizeof(is));
}

static bool lead(struct visit *v, const struct anchor_site *s, uint64_t to)
{
	uint64_t at = s->addr + 1;
	int32_t new = distance(at, to);

	return poke(v, at, (const uint8_t *)&new, sizeof(new));
}

/* What is written to shared memory others have, too, and a file. */
static bool is_private(const struct visit *v, uint64_t addr)
{
	const char *at = (const char *)v->maps.data, *end = at + v->maps.size;
	struct proc_map map;

	while (proc_maps_next(&at, end, &map) && map.start <= addr)
		if (addr + ANCHOR_SITE_BYTES <= map.end)
			return !map.is_shared;
	return false;
}

static bool has(const struct anchor_counters *c, uint64_t addr)
{
	vec_each(x, &c->at)
		if (x->site.addr == addr)
			return true;
	return false;
}

static void add(struct visit *v, const struct anchor_site *s)
{
	struct anchor_counters *c = v->c;
	struct anchor_counters_area *a;
	struct anchor_counter x = { .site = *s, .is_on = true };

	if (c->at.n >= ANCHOR_COUNTERS_MAX || has(c, s->addr) || !is_private(v, s->addr))
		return;
	a = area_for(v, s);
	if (!a)
		return;
	x.area = (uint32_t)(a - c->areas);
	x.number = a->n;
	if (!leads(c->pid, s, s->target) || !write_code(v, a, &x) ||
	    !lead(v, s, code_of(a, x.number)))
		return;
	a->n++;
	*vec_push(&c->at) = x;
}

static uint64_t new_mark(const struct anchor_counters *c)
{
	return clock_monotonic_ns() ^ (uint64_t)c->pid << 48;
}

/* From now on it has others than who has them by the same fork: its own children are to
 * be told from theirs. */
static int mark_anew(struct anchor_counters *c, struct err *e)
{
	c->mark = new_mark(c);
	c->is_inherited = false;
	for (size_t i = 0; i < c->n_areas; i++)
		if (!count_remote_write(c->pid, c->areas[i].start + PAGE_BYTES, &c->mark,
					sizeof(c->mark)))
			return err_set(e, ERR_OS, "it has ended");
	return 0;
}

int anchor_counters_add(struct anchor_counters *c, const struct anchor_site *sites,
			size_t n, struct err *e)
{
	own(visit_fini) struct visit v = { .c = c };
	int rc;

	if (!c->mark)
		c->mark = new_mark(c);
	rc = begin_visit(&v, e);
	if (rc == 0)
		rc = read_maps(&v, e);
	if (rc == 0 && c->is_inherited)
		rc = mark_anew(c, e);
	for (size_t i = 0; i < n && rc == 0; i++)
		if (first(&v))
			add(&v, &sites[i]);
	return rc;
}

/* The mark first. */
static bool read_area(const struct anchor_counters *c, size_t i,
		      uint64_t words[1 + AREA_COUNTERS])
{
	return count_remote_read(c->pid, c->areas[i].start + PAGE_BYTES, words,
				 (1 + AREA_COUNTERS) * sizeof(*words)) &&
	       words[0] == c->mark;
}

bool anchor_counters_read(struct anchor_counters *c)
{
	uint64_t words[ANCHOR_COUNTERS_AREAS][1 + AREA_COUNTERS];

	for (size_t i = 0; i < c->n_areas; i++)
		if (!read_area(c, i, words[i]))
			return false;
	vec_each(x, &c->at)
		x->hits = words[x->area][1 + x->number];
	return true;
}

/* Areas and counters that came later than the fork are not there. */
bool anchor_counters_inherit(struct anchor_counters *c, const struct anchor_counters *of)
{
	struct anchor_counters new = { .pid = c->pid, .mark = of->mark };
	uint64_t words[1 + AREA_COUNTERS];

	memcpy(new.areas, of->areas, sizeof(new.areas));
	while (new.n_areas < of->n_areas && read_area(&new, new.n_areas, words))
		new.n_areas++;
	if (!new.n_areas)
		return false;
	new.is_inherited = true;
	vec_each(x, &of->at) {
		const struct anchor_counters_area *area = &new.areas[x->area];

		if (x->area >= new.n_areas || !has_code(c->pid, area, x))
			continue;
		*vec_push(&new.at) = *x;
		new.at.at[new.at.n - 1].is_on =
			leads(c->pid, &x->site, code_of(area, x->number));
	}
	if (!anchor_counters_read(&new)) {
		anchor_counters_fini(&new);
		return false;
	}
	anchor_counters_fini(c);
	*c = new;
	return true;
}

/* Where the program has other code by now it is off. */
static void set(struct visit *v, struct anchor_counter *x, bool is_on)
{
	uint64_t code = code_of(&v->c->areas[x->area], x->number);

	if (x->is_on == is_on || !first(v))
		return;
	if (is_on)
		x->is_on = leads(v->c->pid, &x->site, x->site.target) &&
			   lead(v, &x->site, code);
	else
		x->is_on = leads(v->c->pid, &x->site, code) &&
			   !lead(v, &x->site, x->site.target);
}

static bool is_as_told(const struct anchor_counters *c, const bool *is_on)
{
	for (size_t i = 0; i < c->at.n; i++)
		if (c->at.at[i].is_on != is_on[i])
			return false;
	return true;
}

int anchor_counters_set(struct anchor_counters *c, const bool *is_on, struct err *e)
{
	return is_as_told(c, is_on) ? 0 : anchor_counters_stand(c, is_on, e);
}

int anchor_counters_stand(struct anchor_counters *c, const bool *is_on, struct err *e)
{
	own(visit_fini) struct visit v = { .c = c };
	int rc;

	rc = anchor_counters_read(c) ? begin_visit(&v, e)
				     : err_set(e, ERR_OS, "it executes another program");
	for (size_t i = 0; i < c->at.n && rc == 0; i++)
		set(&v, &c->at.at[i], is_on[i]);
	return rc;
}

bool anchor_counters_are_on(const struct anchor_counters *c)
{
	vec_each(x, &c->at)
		if (x->is_on)
			return true;
	return false;
}

int anchor_counters_end(struct anchor_counters *c, struct err *e)
{
	own(freep) bool *none = xcalloc(c->at.n + 1, sizeof(*none));
	struct err why = { 0 };

	/* A process that has ended has none. */
	if (anchor_counters_set(c, none, &why) == 0 || !anchor_counters_read(c) ||
	    !anchor_counters_are_on(c))
		return 0;
	return err_set(e, ERR_UNSUPPORTED,
		       "process %d keeps its counters, which harm nothing: %s", c->pid,
		       why.text);
}
