/* SPDX-License-Identifier: Apache-2.0
 *
 * async_preload - interrupts a real program at random places and unwinds it there.
 *
 * LD_PRELOADed into any program.  A timer interrupts it; each time our two walkers and
 * libunwind start from the same signal context, and the frames are compared one by one.
 * At exit a summary line per walker goes to the file named by UNWIND_ASYNC_OUT, and the
 * first differences with it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "oracle.h"
#include "self_maps.h"
#include "unwind/local.h"
#include "unwind/step.h"
#include "unwind/unwind_image.h"

#define MAX_NOTES 12
#define N_SAMPLES 64
/* The longest instruction that step_is_call() tells. */
#define CALL_BYTES 7

enum verdict {
	EQUAL,
	EARLY,	/* we stop where libunwind goes on */
	LONGER, /* libunwind stops where we go on */
	WRONG,	/* a different frame */
	ASTRAY, /* libunwind goes on to where nothing returns: the stack is rewritten */
	GUESS,	/* libunwind follows rbp out of code that has no table */
	N_VERDICTS
};

struct note {
	enum verdict verdict;
	enum unwind_stop stop;
	uint64_t first, last, own, theirs;
};

struct walker {
	const char *name;
	uint64_t n[N_VERDICTS], frames;
	struct note notes[MAX_NOTES];
	size_t n_notes;
};

struct sample {
	struct unwind_regs regs;
	uint64_t low, size;
	uint64_t theirs[ORACLE_MAX];
	size_t n_theirs;
	uint8_t stack[128 << 10];
};

static struct walker offline = { .name = "offline" }, local = { .name = "local" };
static struct self_maps maps;
static struct unwind_local_cache *cache;
static struct sample *samples;
static uint64_t n_copied, n_walked;
static pthread_mutex_t maps_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t stack_lo, stack_hi, n_stale;
static volatile sig_atomic_t is_busy;
static timer_t timer;
static pid_t owner;

/* Does a table cover the frame?  Reads no cache, allocates nothing. */
static bool has_rule(uint64_t pc, bool is_return)
{
	const struct unwind_map *map = self_maps_find(&maps, pc);
	struct unwind_image_rules found;
	uint64_t vaddr;

	return map && map->image &&
	       unwind_image_vaddr(map->image, map, pc - is_return, &vaddr) &&
	       unwind_image_find(map->image, vaddr, &found);
}

/* Is it in code, behind a call?  A handler's address, which is written over a return
 * address before the stack is given up, is code, but nothing that was called returns to
 * it. */
static bool is_return(uint64_t pc)
{
	const struct unwind_map *map = self_maps_find(&maps, pc);

	return map && pc - map->start >= CALL_BYTES &&
	       step_is_call(abi_of(UNWIND_X86_64), (const uint8_t *)(uintptr_t)pc,
			    CALL_BYTES);
}

static void judge(struct walker *w, const uint64_t *own, size_t n, const uint64_t *theirs,
		  size_t m, enum unwind_stop stop)
{
	size_t k = 0;
	enum verdict verdict;

	while (k < n && k < m && own[k] == theirs[k])
		k++;
	verdict = k == n && k == m ? EQUAL : k == n ? EARLY : k == m ? LONGER : WRONG;
	if (k && k < m && !is_return(theirs[k]))
		verdict = ASTRAY;
	if (verdict == WRONG && k && !has_rule(own[k - 1], k > 1))
		verdict = GUESS;
	w->n[verdict]++;
	w->frames += n;
	if (verdict == EQUAL || w->n_notes == MAX_NOTES)
		return;
	w->notes[w->n_notes++] = (struct note){ verdict,
						stop,
						own[0],
						k ? own[k - 1] : 0,
						k < n ? own[k] : 0,
						k < m ? theirs[k] : 0 };
}

static bool in_known_code(const uint64_t *pcs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!self_maps_find(&maps, pcs[i]))
			return false;
	return true;
}

/* The offline walker may allocate, so the handler copies registers and stack, as the
 * kernel would, and a thread walks the copies. */
static void copy_sample(const ucontext_t *uc, const uint64_t *theirs, size_t m)
{
	struct sample *s = &samples[n_copied % N_SAMPLES];
	uint64_t low = (uint64_t)uc->uc_mcontext.gregs[REG_RSP] - 128;

	if (n_copied - __atomic_load_n(&n_walked, __ATOMIC_ACQUIRE) == N_SAMPLES ||
	    stack_hi - low > sizeof(s->stack))
		return;
	s->regs = oracle_regs(uc);
	s->low = low;
	s->size = stack_hi - low;
	memcpy(s->stack, (const void *)low, s->size);
	memcpy(s->theirs, theirs, m * sizeof(*theirs));
	s->n_theirs = m;
	__atomic_store_n(&n_copied, n_copied + 1, __ATOMIC_RELEASE);
}

/* Only code: the stack has moved on since the sample. */
static bool read_code(void *ctx, uint64_t addr, uint64_t *ret)
{
	(void)ctx;
	if (!self_maps_find(&maps, addr) || !self_maps_find(&maps, addr + 7))
		return false;
	memcpy(ret, (const void *)addr, sizeof(*ret));
	return true;
}

static void walk_offline(const struct sample *s)
{
	static struct unwind_frame frames[ORACLE_MAX];
	static uint64_t pcs[ORACLE_MAX];
	struct unwind_memory memory = { .stack = s->stack,
					.stack_addr = s->low,
					.stack_size = s->size,
					.read = read_code };
	enum unwind_stop stop;
	size_t n;

	if (!in_known_code(s->theirs, s->n_theirs)) {
		n_stale++;
		return;
	}
	n = unwind_offline(&s->regs, &memory, self_maps_find, &maps, frames, ORACLE_MAX,
			   &stop);
	for (size_t i = 0; i < n; i++)
		pcs[i] = frames[i].pc;
	judge(&offline, pcs, n, s->theirs, s->n_theirs, stop);
}

static void *walk_samples(void *arg)
{
	const struct timespec nap = { 0, 200000 };

	(void)arg;
	for (;;) {
		pthread_mutex_lock(&maps_lock);
		while (n_walked != __atomic_load_n(&n_copied, __ATOMIC_ACQUIRE)) {
			walk_offline(&samples[n_walked % N_SAMPLES]);
			__atomic_store_n(&n_walked, n_walked + 1, __ATOMIC_RELEASE);
		}
		pthread_mutex_unlock(&maps_lock);
		nanosleep(&nap, NULL);
	}
	return NULL;
}

static void start_thread(void)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, walk_samples, NULL) == 0)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void walk_local(const ucontext_t *uc, const uint64_t *theirs, size_t m)
{
	static uintptr_t pcs[ORACLE_MAX];
	uint8_t exact[UNWIND_LOCAL_DEPTH_MAX / 8];
	enum unwind_stop stop;
	size_t n = unwind_local(cache, uc, stack_lo, stack_hi, pcs, exact, ORACLE_MAX,
				&stop);

	judge(&local, pcs, n, theirs, m, stop);
}

static void on_timer(int sig, siginfo_t *info, void *context)
{
	static uint64_t theirs[ORACLE_MAX];
	const ucontext_t *uc = context;
	uint64_t sp = (uint64_t)uc->uc_mcontext.gregs[REG_RSP];
	size_t m;

	(void)sig;
	(void)info;
	if (is_busy || sp < stack_lo || sp >= stack_hi)
		return;
	is_busy = 1;
	m = oracle_walk(uc, theirs);
	walk_local(uc, theirs, m);
	copy_sample(uc, theirs, m);
	is_busy = 0;
}

__attribute__((visibility("default"))) void *dlopen(const char *file, int mode)
{
	static void *(*next)(const char *, int);
	void *handle;

	if (!next)
		next = (void *(*)(const char *, int))dlsym(RTLD_NEXT, "dlopen");
	handle = next(file, mode);
	if (getpid() == owner) {
		is_busy = 1;
		pthread_mutex_lock(&maps_lock);
		self_maps_fini(&maps);
		self_maps_read(&maps);
		pthread_mutex_unlock(&maps_lock);
		unwind_local_refresh();
		is_busy = 0;
	}
	return handle;
}

static void find_stack(void)
{
	pthread_attr_t attr;
	void *low;
	size_t size;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &low, &size);
	pthread_attr_destroy(&attr);
	stack_lo = (uint64_t)low;
	stack_hi = stack_lo + size;
}

static void *map_zeroed(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

static __attribute__((constructor)) void start(void)
{
	struct sigaction sa = { .sa_sigaction = on_timer,
				.sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF };
	const char *period = getenv("UNWIND_ASYNC_US");
	struct timespec every = { 0, 1000 * (period ? atol(period) : 211) };
	struct itimerspec spec = { every, every };

	owner = getpid();
	find_stack();
	self_maps_read(&maps);
	unwind_local_refresh();
	cache = map_zeroed(unwind_local_cache_bytes());
	samples = map_zeroed(N_SAMPLES * sizeof(*samples));
	start_thread();
	sigaction(SIGPROF, &sa, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
		timer_settime(timer, 0, &spec, NULL);
}

static void report(FILE *out, const struct walker *w)
{
	static const char *const verdicts[] = { "equal", "early",  "longer",
						"WRONG", "astray", "guess" };
	uint64_t n = 0;

	for (int i = 0; i < N_VERDICTS; i++)
		n += w->n[i];

	fprintf(out,
		"%s %s samples %" PRIu64 " equal %" PRIu64 " early %" PRIu64
		" longer %" PRIu64 " wrong %" PRIu64 " astray %" PRIu64 " guess %" PRIu64
		" depth %.1f\n",
		program_invocation_short_name, w->name, n, w->n[EQUAL], w->n[EARLY],
		w->n[LONGER], w->n[WRONG], w->n[ASTRAY], w->n[GUESS],
		n ? (double)w->frames / (double)n : 0);
	for (size_t i = 0; i < w->n_notes; i++) {
		const struct note *note = &w->notes[i];

		fprintf(out, "  %s: in %s", verdicts[note->verdict],
			self_maps_where(&maps, note->first));
		fprintf(out, " behind %s", self_maps_where(&maps, note->last));
		fprintf(out, " ours %s", self_maps_where(&maps, note->own));
		fprintf(out, " theirs %s (%s)\n", self_maps_where(&maps, note->theirs),
			unwind_stop_text(note->stop));
	}
}

static __attribute__((destructor)) void stop(void)
{
	const char *path = getenv("UNWIND_ASYNC_OUT");
	FILE *out;

	is_busy = 1;
	if (getpid() != owner || !path)
		return;
	timer_delete(timer);
	while (n_walked != n_copied)
		usleep(1000);
	pthread_mutex_lock(&maps_lock);
	out = fopen(path, "ae");
	if (!out)
		return;
	report(out, &local);
	report(out, &offline);
	if (n_stale)
		fprintf(out, "  (%" PRIu64 " samples in code not mapped at the start)\n",
			n_stale);
	fclose(out);
}
