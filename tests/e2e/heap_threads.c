/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_threads MODE - threads that take memory on stacks of other kinds, in a child of
 * vfork, or on both sides of a pause.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "wire/sampler.h"
#include "wire/tracer.h"

/* clang makes no clones, and does not know how to be told. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

#define N_THREADS 50

static void *volatile kept;
static pthread_barrier_t barrier;

static void meet(void)
{
	pthread_barrier_wait(&barrier);
}

static pthread_t start(void *(*f)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, f, arg) != 0)
		abort();
	return t;
}

/* A thread whose first block is its child's, and one that comes when that is gone. */

#define N_LEAKS 100000

NOINLINE void leak_as_parent(void)
{
	kept = malloc(16);
}

NOINLINE void leak_as_other(void)
{
	kept = malloc(16);
}

static void *be_parent(void *arg)
{
	pid_t pid = vfork();

	if (pid == 0) {
		kept = malloc(16);
		execl("/bin/true", "true", NULL);
		_exit(1);
	}
	while (waitpid(pid, NULL, 0) < 0)
		;
	meet();
	for (int i = 0; i < N_LEAKS; i++)
		leak_as_parent();
	return arg;
}

static void *be_other(void *arg)
{
	meet();
	for (int i = 0; i < N_LEAKS; i++)
		leak_as_other();
	return arg;
}

static void vforked(void)
{
	pthread_t parent, other;

	pthread_barrier_init(&barrier, NULL, 2);
	parent = start(be_parent, NULL);
	other = start(be_other, NULL);
	pthread_join(parent, NULL);
	pthread_join(other, NULL);
}

/* A stack far below the thread's own, and a table that tells of a caller in between,
 * where nothing is. */

#define FIBRE_BYTES (64 << 10)
#define HOLE_BYTES  (1 << 20)

static ucontext_t thread_context, fibre_context;

NOINLINE void leak_in_fibre(void)
{
	kept = malloc(77);
}

#ifdef __x86_64__
extern void call_astray(void (*f)(void));
__asm__(".pushsection .text\n"
	".type call_astray, @function\n"
	"call_astray:\n"
	"	.cfi_startproc\n"
	"	sub $8, %rsp\n"
	"	.cfi_def_cfa %rsp, 1 << 19\n"
	"	call *%rdi\n"
	"	add $8, %rsp\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size call_astray, . - call_astray\n"
	".popsection\n");
#else
static void call_astray(void (*f)(void))
{
	f();
}
#endif

static void be_fibre(void)
{
	call_astray(leak_in_fibre);
}

/* The own stack is the upper end of what is mapped, so that all is below its thread
 * pointer. */
static void *be_thread(void *arg)
{
	getcontext(&fibre_context);
	fibre_context.uc_stack.ss_sp = arg;
	fibre_context.uc_stack.ss_size = FIBRE_BYTES;
	fibre_context.uc_link = &thread_context;
	makecontext(&fibre_context, be_fibre, 0);
	swapcontext(&thread_context, &fibre_context);
	return NULL;
}

static void fibre(void)
{
	char *all = mmap(NULL, 2 * HOLE_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_attr_t attr;
	pthread_t t;

	if (all == MAP_FAILED || munmap(all + FIBRE_BYTES, HOLE_BYTES) < 0)
		abort();
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, all + FIBRE_BYTES + HOLE_BYTES,
			      HOLE_BYTES - FIBRE_BYTES);
	if (pthread_create(&t, &attr, be_thread, all) != 0)
		abort();
	pthread_join(t, NULL);
}

/* Handlers on a stack among the thread's own data, with an allocator that allows it. */

#define N_HANDLED 2000
static __thread char handlers_stack[128 << 10];
static volatile int n_handled;

NOINLINE void leak_in_handler(int signal)
{
	(void)signal;
	kept = malloc(21);
	n_handled++;
}

NOINLINE void leak_in_thread(void)
{
	kept = malloc(31);
}

static void *be_interrupted(void *arg)
{
	const stack_t stack = { .ss_sp = handlers_stack,
				.ss_size = sizeof(handlers_stack) };
	const struct sigaction action = { .sa_handler = leak_in_handler,
					  .sa_flags = SA_ONSTACK | SA_RESTART };
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	sigset_t set;
	int *n = arg;

	sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (n_handled < N_HANDLED) {
		leak_in_thread();
		++*n;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	return NULL;
}

static void interrupted(void)
{
	sigset_t set;
	int n = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_join(start(be_interrupted, &n), NULL);
	dprintf(1, "%d %d\n", n, n_handled);
}

/* The recorder, who is the parent, is told to pause and to go on. */

static uint32_t is_paused(int control_fd)
{
	uint32_t ret;

	if (pread(control_fd, &ret, sizeof(ret),
		  offsetof(struct wire_sampler_control, is_paused)) != sizeof(ret))
		abort();
	return ret;
}

static void toggle(int control_fd)
{
	uint32_t was = is_paused(control_fd);

	kill(getppid(), SIGUSR1);
	while (is_paused(control_fd) == was)
		usleep(1000);
}

NOINLINE void take_much(void)
{
	for (int i = 0; i < 400; i++) {
		void *volatile own = malloc(1 << 20);

		free(own);
	}
}

NOINLINE void leak_behind_pause(void)
{
	kept = malloc(100);
}

static void *be_paused(void *arg)
{
	take_much();
	meet();
	meet();
	take_much();
	meet();
	meet();
	leak_behind_pause();
	return arg;
}

static void paused(void)
{
	pthread_t threads[N_THREADS];
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s/" WIRE_SAMPLER_CONTROL, getenv(WIRE_TRACER_ENV));
	fd = open(path, O_RDONLY);
	if (fd < 0)
		abort();
	pthread_barrier_init(&barrier, NULL, N_THREADS + 1);
	for (int i = 0; i < N_THREADS; i++)
		threads[i] = start(be_paused, NULL);
	meet();
	toggle(fd);
	meet();
	meet();
	toggle(fd);
	meet();
	for (int i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {
		{ "vforked", vforked },
		{ "fibre", fibre },
		{ "interrupted", interrupted },
		{ "paused", paused },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(argv[1], modes[i].name) == 0) {
			modes[i].run();
			return 0;
		}
	}
	return 2;
}
