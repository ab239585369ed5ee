/* SPDX-License-Identifier: Apache-2.0
 * The oracle is what real programs did: they are stopped now and then and stepped through
 * from there, and before they go on it is told how they will.
 * usage: x86_forward_steps_test STOPS STEPPED... */
#include "decode/x86_forward.h"
#include "decode/x86_op.h"

#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define N_SAMPLES   12 /* where it was stopped */
#define N_INSNS	    64 /* from a sample on */
#define N_BRANCHES  16
#define RUN_NS	    700000 /* between two stops */
#define PAGE_BYTES  4096
#define N_PAGES	    256 /* of code that are kept */
#define STACK_BYTES 8192

enum knowing { REGISTERS, STACK, MEMORY, N_KNOWING };

/* What was told, as far as the program has gone since. */
struct told {
	struct forward_path path;
	unsigned n_insns, n_branches;
	bool is_open;
};

struct sums {
	unsigned n_samples, n_first, n_branches, n_regs, n_wrong;
	uint64_t ns;
};

struct stepped {
	pid_t pid;
	struct user_regs_struct regs;
	uint64_t pages[N_PAGES]; /* addresses of */
	uint8_t code[N_PAGES][PAGE_BYTES];
	uint8_t stack[STACK_BYTES];
	size_t n_stack;
	struct told told[N_KNOWING];
	struct sums sums[N_KNOWING];
};

static struct sums total[N_KNOWING];

static size_t copy(pid_t pid, uint64_t addr, void *to, size_t bytes)
{
	struct iovec local = { to, bytes };
	struct iovec remote = { (void *)(uintptr_t)addr, bytes };
	ssize_t n = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

static const uint8_t *code_page(struct stepped *s, uint64_t addr)
{
	uint64_t page = addr & -(uint64_t)PAGE_BYTES;
	unsigned slot = (unsigned)(page / PAGE_BYTES % N_PAGES);

	if (s->pages[slot] != page) {
		s->pages[slot] = 0;
		if (copy(s->pid, page, s->code[slot], PAGE_BYTES) != PAGE_BYTES)
			return NULL;
		s->pages[slot] = page;
	}
	return s->code[slot];
}

static unsigned read_code(void *ctx, uint64_t addr, uint8_t *to)
{
	size_t here = PAGE_BYTES - addr % PAGE_BYTES;
	const uint8_t *page = code_page(ctx, addr), *next;

	if (here > X86_OP_MAX_BYTES)
		here = X86_OP_MAX_BYTES;
	if (!page)
		return 0;
	memcpy(to, page + addr % PAGE_BYTES, here);
	next = here < X86_OP_MAX_BYTES ? code_page(ctx, addr + here) : NULL;
	if (!next)
		return (unsigned)here;
	memcpy(to + here, next, X86_OP_MAX_BYTES - here);
	return X86_OP_MAX_BYTES;
}

static bool read_stack(void *ctx, uint64_t addr, void *to, unsigned bytes)
{
	struct stepped *s = ctx;
	uint64_t at = addr - s->regs.rsp;

	if (at > s->n_stack || s->n_stack - at < bytes)
		return false;
	memcpy(to, s->stack + at, bytes);
	return true;
}

static bool read_memory(void *ctx, uint64_t addr, void *to, unsigned bytes)
{
	struct stepped *s = ctx;

	return copy(s->pid, addr, to, bytes) == bytes;
}

static void get_regs(const struct user_regs_struct *r, uint64_t *ret)
{
	const uint64_t regs[] = { r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp,
				  r->rsi, r->rdi, r->r8,  r->r9,  r->r10, r->r11,
				  r->r12, r->r13, r->r14, r->r15 };

	memcpy(ret, regs, sizeof(regs));
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void sum_told(struct sums *sums, const struct forward_path *path)
{
	bool is_first = true;

	sums->n_samples++;
	for (unsigned i = 0; i < path->n_branches; i++) {
		const struct forward_branch *b = &path->branches[i];

		if (b->kind != FORWARD_CONDITIONAL)
			continue;
		sums->n_first += is_first && b->way != FORWARD_UNKNOWN;
		sums->n_branches += b->way != FORWARD_UNKNOWN;
		is_first = false;
	}
}

static void sample(struct stepped *s)
{
	static path_memory_read_fn *const read[] = { NULL, read_stack, read_memory };
	static const struct forward_limits limits = { .n_insns = N_INSNS,
						      .n_branches = N_BRANCHES };
	struct forward_state from = { .ip = s->regs.rip,
				      .flags = s->regs.eflags,
				      .known_regs = UINT16_MAX,
				      .known_flags = X86_FORWARD_FLAGS };

	get_regs(&s->regs, from.regs);
	s->n_stack = copy(s->pid, s->regs.rsp, s->stack, STACK_BYTES);
	for (unsigned i = 0; i < N_KNOWING; i++) {
		struct forward_source source = { read_code, read[i], NULL, s };
		struct told *t = &s->told[i];
		uint64_t begin;

		/* the pages of code are there the second time */
		x86_forward(&from, &source, &limits, &t->path);
		begin = now_ns();
		x86_forward(&from, &source, &limits, &t->path);
		s->sums[i].ns += now_ns() - begin;
		t->n_insns = t->n_branches = 0;
		t->is_open = t->path.n_insns;
		sum_told(&s->sums[i], &t->path);
	}
}

static void wrong(struct stepped *s, enum knowing k, const char *what, unsigned which,
		  uint64_t told, uint64_t is)
{
	if (s->sums[k].n_wrong++ < 10)
		printf("# wrong at %#" PRIx64 ": %s %u told %#" PRIx64 ", is %#" PRIx64
		       "\n",
		       (uint64_t)s->regs.rip, what, which, told, is);
	s->told[k].is_open = false;
}

/* Its state at the end of what was told. */
static void compare_last(struct stepped *s, enum knowing k)
{
	const struct forward_state *last = &s->told[k].path.last;
	uint64_t regs[X86_OP_N_REGS];

	get_regs(&s->regs, regs);
	s->told[k].is_open = false;
	if (last->ip != s->regs.rip)
		wrong(s, k, "ip", 0, last->ip, s->regs.rip);
	for (unsigned i = 0; i < X86_OP_N_REGS; i++) {
		if (!(last->known_regs >> i & 1))
			continue;
		s->sums[k].n_regs++;
		if (last->regs[i] != regs[i])
			wrong(s, k, "register", i, last->regs[i], regs[i]);
	}
	if ((last->flags ^ s->regs.eflags) & last->known_flags)
		wrong(s, k, "flags", last->known_flags, last->flags, s->regs.eflags);
}

/* It has executed the instruction at ip. */
static void follow(struct stepped *s, enum knowing k, uint64_t ip)
{
	struct told *t = &s->told[k];
	const struct forward_branch *b = &t->path.branches[t->n_branches];

	if (!t->is_open)
		return;
	if (t->n_branches < t->path.n_branches && b->addr == ip) {
		t->n_branches++;
		if (b->way != FORWARD_UNKNOWN && b->to != s->regs.rip)
			wrong(s, k, "branch", b->kind, b->to, s->regs.rip);
	}
	if (++t->n_insns == t->path.n_insns && t->is_open)
		compare_last(s, k);
}

/* False: it has ended. */
static bool go_on(struct stepped *s, int request, int until)
{
	int status;

	assert_int_equal(ptrace(request, s->pid, NULL, NULL), 0);
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	if (!WIFSTOPPED(status))
		return false;
	assert_int_equal(WSTOPSIG(status), until);
	assert_int_equal(ptrace(PTRACE_GETREGS, s->pid, NULL, &s->regs), 0);
	return true;
}

/* Repeated strings are stepped through one by one. */
static bool is_repeated(struct stepped *s, uint64_t ip)
{
	uint8_t bytes[X86_OP_MAX_BYTES] = { 0 };
	struct x86_op op;

	return s->regs.rip == ip && read_code(s, ip, bytes) && x86_op_read(bytes, &op) &&
	       op.map == X86_OP_ONE && op.repeat && op.opcode >= 0xa4 &&
	       op.opcode <= 0xaf;
}

#define REFUSED 126

static void start(struct stepped *s, const char *const *words)
{
	int status;

	s->pid = fork();
	assert_in_range(s->pid, 0, INT32_MAX);
	if (!s->pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(REFUSED);
		execv(words[0], (char *const *)(uintptr_t)words);
		_exit(127);
	}
	assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == REFUSED)
		skip(); /* in a tracer already, or not permitted */
	assert_true(WIFSTOPPED(status));
}

static void add_to_total(const struct stepped *s, const char *name)
{
	static const char *const knowing[] = { "registers", "+ stack", "+ memory" };

	for (unsigned i = 0; i < N_KNOWING; i++) {
		const struct sums *u = &s->sums[i];

		total[i].n_samples += u->n_samples;
		total[i].n_first += u->n_first;
		total[i].n_wrong += u->n_wrong;
		printf("# %-12s %-10s %6u samples, %5.1f %% tell the next branch, %5.2f "
		       "branches each, %4.1f registers, %5" PRIu64 " ns, %u wrong\n",
		       name, knowing[i], u->n_samples, 100.0 * u->n_first / u->n_samples,
		       (double)u->n_branches / u->n_samples,
		       (double)u->n_regs / u->n_samples, u->ns / u->n_samples,
		       u->n_wrong);
	}
}

static bool step(struct stepped *s)
{
	uint64_t ip = s->regs.rip;

	do
		if (!go_on(s, PTRACE_SINGLESTEP, SIGTRAP))
			return false;
	while (is_repeated(s, ip));
	for (unsigned k = 0; k < N_KNOWING; k++)
		follow(s, k, ip);
	return true;
}

static bool step_here(struct stepped *s)
{
	for (unsigned i = 0; i < N_SAMPLES; i++) {
		/* one, for a system call may be about to be begun again */
		if (!step(s))
			return false;
		sample(s);
		for (unsigned k = 0; k < N_INSNS; k++)
			if (!step(s))
				return false;
	}
	return true;
}

static bool run_freely(struct stepped *s)
{
	struct timespec t = { .tv_nsec = RUN_NS };
	int status;

	assert_int_equal(ptrace(PTRACE_CONT, s->pid, NULL, NULL), 0);
	nanosleep(&t, NULL);
	kill(s->pid, SIGSTOP); /* an ended child stays until it is waited for */
	for (;;) {
		assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
		if (!WIFSTOPPED(status))
			return false;
		if (WSTOPSIG(status) == SIGSTOP)
			break;
		assert_int_equal(ptrace(PTRACE_CONT, s->pid, NULL, NULL), 0);
	}
	assert_int_equal(ptrace(PTRACE_GETREGS, s->pid, NULL, &s->regs), 0);
	return true;
}

static void step_through(const char *const *words, const char *name, unsigned n_stops)
{
	static struct stepped s;
	bool is_running = true;

	memset(&s, 0, sizeof(s));
	start(&s, words);
	for (unsigned i = 0; i < n_stops && is_running; i++)
		is_running = run_freely(&s) && step_here(&s);
	if (is_running) {
		kill(s.pid, SIGKILL);
		waitpid(s.pid, NULL, 0);
	}
	add_to_total(&s, name);
}

/* Of all samples that tell the next branch: far fewer, and something is no more known. */
static const unsigned least_first_pct[N_KNOWING] = { 28, 35, 80 };

static char **arguments;

static void programs_go_where_they_were_told_to_go(void **state)
{
	static const char *const installed[][8] = {
		{ "/bin/ls", "-lR", "/usr/share" },
		{ "/bin/gzip", "-c", "/usr/bin/perl" },
		{ "/usr/bin/perl", "-e",
		  "my %h; $h{$_ * 7 % 1001} .= \"x$_\" for 1..300000;"
		  "print join(',', sort keys %h) =~ s/1+/2/gr" },
		{ "/usr/bin/sqlite3", ":memory:",
		  "create table t(a, b); with recursive n(i) as (select 1 union all "
		  "select i + 1 from n where i < 300000) insert into t select i, i * "
		  "7919 % 1000 from n; select sum(a), b % 10 from t group by 2;" },
		{ "/usr/bin/awk",
		  "{ n[$1]++ } END { for (i = 0; i < 999999; i++) n[i % 777] += i }",
		  "/usr/share/common-licenses/GPL-3" },
	};

	unsigned n_stops;

	(void)state;
	if (getenv("DWELL_MEMCHECK"))
		skip(); /* the programs would not be */
	n_stops = (unsigned)strtoul(arguments[0], NULL, 10);
	for (char **a = arguments + 1; *a; a++) {
		const char *const words[] = { *a, NULL };

		step_through(words, strrchr(*a, '/') + 1, n_stops);
	}
	for (size_t i = 0; i < sizeof(installed) / sizeof(installed[0]); i++)
		if (access(installed[i][0], X_OK) == 0)
			step_through(installed[i], strrchr(installed[i][0], '/') + 1,
				     n_stops);
	for (unsigned i = 0; i < N_KNOWING; i++) {
		assert_int_equal(total[i].n_wrong, 0);
		assert_in_range(total[i].n_samples, 200, UINT32_MAX);
		assert_in_range(100 * total[i].n_first / total[i].n_samples,
				least_first_pct[i], 100);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_go_where_they_were_told_to_go),
	};

	arguments = argv + (argc > 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
