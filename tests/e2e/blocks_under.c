/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions to be chosen, and all the ways in which they are entered and left.  Those in
 * assembly execute a number of instructions that their text tells; how often they are
 * called is told on output where a test does not know it.
 *
 *	usage: blocks_under NAME [ARGUMENTS]
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define FUNCTION(name, text)                                                             \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n"     \
		".p2align 4\n" #name ":\n" text "\n.size " #name ", .-" #name            \
		"\n.popsection\n")
#define ALONE __attribute__((noinline, noclone, noipa))
#ifdef __clang__
#undef ALONE
#define ALONE __attribute__((noinline))
#endif
#define TURNS 100

/* 3 */
FUNCTION(leaf, "nop; nop; ret");
/* 4: where the program is counted from, in and outside of what is chosen */
FUNCTION(mark, "nop; nop; nop; ret");
/* 2: of handlers */
FUNCTION(handled, "nop; ret");
/* 4 + 3 n, and n of leaf */
FUNCTION(caller,
	 "push %rbx; mov %edi, %ebx; 1: call leaf; dec %ebx; jnz 1b; pop %rbx; ret");
/* 3 + 7 n */
FUNCTION(recursive, "test %edi, %edi; je 1f; sub $8, %rsp; dec %edi; call recursive; "
		    "add $8, %rsp; 1: ret");
/* the same, by turns */
FUNCTION(even, "test %edi, %edi; je 1f; sub $8, %rsp; dec %edi; call odd; add $8, %rsp; "
	       "1: ret");
FUNCTION(odd, "test %edi, %edi; je 1f; sub $8, %rsp; dec %edi; call even; add $8, %rsp; "
	      "1: ret");
/* 2, and leaf at the end */
FUNCTION(tail, "nop; jmp leaf");
/* the same by pointer, and by a return: 2 and 3 */
FUNCTION(tail_to, "lea leaf(%rip), %rax; jmp *%rax");
FUNCTION(bounce, "lea leaf(%rip), %rax; push %rax; ret");
/* 2 + 2 n: what it costs depends on who calls it */
FUNCTION(work, "mov %edi, %ecx; 1: dec %ecx; jnz 1b; ret");
/* 5, and work */
FUNCTION(cheap, "push %rbx; mov $1, %edi; call work; pop %rbx; ret");
FUNCTION(dear, "push %rbx; mov $1000, %edi; call work; pop %rbx; ret");
/* 2 + 2 n: its loop begins at its first instruction */
FUNCTION(head, "dec %edi; jnz head; nop; ret");
/* 2, which takes its arguments from the stack; 7, which calls it */
FUNCTION(taking, "nop; ret $16");
FUNCTION(taken, "sub $8, %rsp; push $1; push $2; call taking; add $8, %rsp; nop; ret");
/* 3: flags are its result */
FUNCTION(tested, "nop; test %edi, %edi; ret");
/* 10, and tested twice, whose flags it looks at */
FUNCTION(asking, "push %rbx; mov $1, %edi; call tested; je 1f; 1: xor %edi, %edi; "
		 "call tested; jne 2f; 2: nop; pop %rbx; ret");
/* the same; less if the flags are not those that tested has left */
FUNCTION(needing,
	 "push %rbx; mov $1, %edi; call tested; je 1f; xor %edi, %edi; call tested; "
	 "jne 1f; nop; 1: pop %rbx; ret");
/* 13, and mark three times */
FUNCTION(inner, "push %rbx; mov $3, %ebx; 1: call mark; dec %ebx; jnz 1b; pop %rbx; ret");
/* 8, and leaf twice, inner, asking and tail */
FUNCTION(outer, "push %rbx; call leaf; call inner; call asking; call tail; call leaf; "
		"pop %rbx; ret");

void leaf(void), mark(void), handled(void), caller(int n), recursive(int n), even(int n);
void odd(int n), tail(void), tail_to(void), bounce(void), work(int n), cheap(void);
void dear(void), head(int n), taken(void), asking(void), needing(void), inner(void),
	outer(void);
int compare(const void *a, const void *b);
void sorts(void), formats(void), points(int n);
void jumper(int n), relay(int n), chosen(int n), other(int n), again(int n);
void *thread(void *p);

static volatile int sum;
static jmp_buf home;
static sigjmp_buf home_of_signals;

static void many(void (*function)(void), int n)
{
	while (n--)
		function();
}

static void none(void)
{
}

/* What the chosen ones do meanwhile. */
static void (*volatile inside)(void) = none;

ALONE void chosen(int n)
{
	mark();
	inside();
	many(mark, n);
}

ALONE void other(int n)
{
	mark();
	inside();
	many(mark, n);
}

/* Calls. */

ALONE int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

ALONE void sorts(void)
{
	int numbers[TURNS];

	for (int i = 0; i < TURNS; i++)
		numbers[i] = i * 37 % 101;
	qsort(numbers, TURNS, sizeof(numbers[0]), compare);
	sum += numbers[3];
}

ALONE void formats(void)
{
	static char text[64];

	for (int i = 0; i < TURNS; i++)
		sum += snprintf(text, sizeof(text), "%d %x %5.2f", i, i * i, i / 3.);
}

/* More targets than a site compares with. */
ALONE void points(int n)
{
	static void (*const ways[])(void) = { leaf,   mark,  handled, tail,    tail_to,
					      bounce, cheap, asking,  inner,   outer,
					      taken,  dear,  sorts,   formats, none };

	for (int i = 0; i < n; i++)
		ways[i % (sizeof(ways) / sizeof(ways[0]))]();
}

static void call_all(void)
{
	many(leaf, TURNS);
	for (int i = 1; i <= TURNS; i++)
		caller(i);
	recursive(50);
	for (int i = 0; i < TURNS; i++) {
		even(i);
		odd(i);
		head(i + 1);
	}
	many(tail, TURNS);
	many(tail_to, TURNS);
	many(bounce, TURNS);
	many(cheap, TURNS);
	dear();
	many(taken, TURNS);
	many(asking, TURNS);
	many(outer, TURNS);
	many(sorts, 10);
	many(formats, 3);
	points(300);
}

/* Jumps. */

static void (*volatile jump_from)(int) = jumper;

ALONE void jumper(int n)
{
	mark();
	if (!n)
		longjmp(home, 1);
	jump_from(n - 1);
}

/* Lands in one that was chosen, from one in it. */
ALONE void relay(int n)
{
	if (!setjmp(home))
		jumper(n);
	mark();
}

static void jump(void)
{
	for (volatile int i = 0; i < TURNS; i++) {
		if (!setjmp(home))
			jumper(i % 5);
		mark();
	}
	for (int i = 0; i < TURNS; i++)
		relay(i % 5);
	many(leaf, TURNS);
}

ALONE void again(int n)
{
	mark();
	exit(n);
}

/* Coroutines. */

#define STACK 65536

static ucontext_t at_home, aside, further;

static void ask_home(void)
{
	swapcontext(&aside, &at_home);
}

static void coroutine(void)
{
	for (;;) {
		many(leaf, 1);
		ask_home();
	}
}

/* One that yields while it is chosen. */
static void yielding(void)
{
	inside = ask_home;
	for (;;)
		other(1);
}

static void go_aside(void)
{
	swapcontext(&at_home, &aside);
}

static void make(ucontext_t *c, void *stack, void (*function)(void))
{
	getcontext(c);
	c->uc_stack.ss_sp = stack;
	c->uc_stack.ss_size = STACK;
	makecontext(c, function, 0);
}

static void coroutines(void)
{
	char *low = malloc(STACK);

	make(&aside, low, coroutine);
	inside = go_aside;
	for (int i = 0; i < TURNS; i++) {
		chosen(1);
		go_aside();
		handled();
	}
	make(&aside, low, yielding);
	for (int i = 0; i < TURNS; i++) {
		go_aside();
		handled();
	}
	free(low);
}

/* A thread on a stack between others. */

static char *region; /* STACK each: a lower one, the thread's, a higher one */
static bool uses_setcontext, uses_autodisarm;
static volatile int n_handled;

static void *on_stack(void *(*function)(void *))
{
	pthread_attr_t a;
	pthread_t t;
	void *result;

	region = mmap(NULL, 16 * STACK, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_init(&a);
	pthread_attr_setstack(&a, region + 4 * STACK, 8 * STACK);
	if (pthread_create(&t, &a, function, NULL) || pthread_join(t, &result))
		abort();
	return result;
}

static void *go_up_and_down(void *p)
{
	for (int i = 0; i < 2; i++) {
		make(&aside, region + 14 * i * STACK, coroutine);
		inside = go_aside;
		for (int k = 0; k < TURNS; k++) {
			chosen(1);
			handled();
		}
	}
	return p;
}

static void up_and_down(void)
{
	on_stack(go_up_and_down);
}

/* Signals. */

static void interrupt(void)
{
	raise(SIGUSR1);
}

static void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction a = { .sa_handler = handler, .sa_flags = flags };

	sigaction(signal, &a, NULL);
}

static void set_stack(void *p)
{
	stack_t s = { .ss_sp = p, .ss_size = 2 * STACK };

	if (uses_autodisarm)
		s.ss_flags = (int)(1u << 31);
	if (sigaltstack(&s, NULL))
		abort();
}

static void second_handler(int signal)
{
	(void)signal;
	leaf();
}

/* Calls what is chosen, jumps where it is, and is interrupted itself. */
static void returning_handler(int signal)
{
	static jmp_buf here;

	(void)signal;
	n_handled++;
	handled();
	if (!setjmp(here))
		longjmp(here, 1);
	handled();
	inner();
	raise(SIGUSR2);
	handled();
}

static void jumping_handler(int signal)
{
	(void)signal;
	n_handled++;
	handled();
	if (uses_setcontext)
		setcontext(&further);
	siglongjmp(home_of_signals, 1);
}

static ALONE void entered_by_handler(void)
{
	leaf();
	siglongjmp(home_of_signals, 1);
}

static void entering_handler(int signal)
{
	(void)signal;
	n_handled++;
	inside = entered_by_handler;
	other(0);
}

static void handle_and_return(int where)
{
	handle(SIGUSR1, returning_handler, where);
	handle(SIGUSR2, second_handler, where);
	inside = interrupt;
	for (int i = 0; i < TURNS; i++) {
		chosen(1);
		tail();
	}
}

static void handle_and_jump(int where)
{
	volatile int n;

	handle(SIGUSR1, jumping_handler, where | SA_NODEFER);
	inside = interrupt;
	for (n = 0; n < TURNS; n++) {
		if (uses_setcontext) {
			volatile bool is_back = false;

			getcontext(&further);
			if (!is_back) {
				is_back = true;
				chosen(1);
			}
		} else if (!sigsetjmp(home_of_signals, 1)) {
			chosen(1);
		}
		tail();
	}
}

/* The stack is deeper where it is jumped to than where the function was entered before.
 */
ALONE void deeper(int n);

ALONE void deeper(int n)
{
	char room[2048];

	memset(room, n, sizeof(room));
	sum += room[n];
	inside = none;
	if (!sigsetjmp(home_of_signals, 1))
		raise(SIGUSR1);
	many(tail, 10);
}

static void handle_and_enter(int where)
{
	handle(SIGUSR1, entering_handler, where | SA_NODEFER);
	for (int i = 0; i < TURNS; i++) {
		inside = none;
		other(0);
		deeper(i);
	}
}

static void (*handles)(int where);

static void *with_stacks(void *p)
{
	handles(0);
	for (int i = 0; i < 2; i++) {
		set_stack(region + 14 * i * STACK);
		handles(SA_ONSTACK);
	}
	return p;
}

static void handlers(void)
{
	on_stack(with_stacks);
	printf("handled %d\n", n_handled);
}

static void handlers_that_return(void)
{
	handles = handle_and_return;
	handlers();
}

static void handlers_that_return_without_stack(void)
{
	uses_autodisarm = true;
	handlers_that_return();
}

static void handlers_that_jump(void)
{
	handles = handle_and_jump;
	handlers();
}

static void handlers_that_set_contexts(void)
{
	uses_setcontext = true;
	handlers_that_jump();
}

static void handlers_that_enter(void)
{
	handles = handle_and_enter;
	handlers();
}

/* Storms. */

static volatile int n_entered;

static void storm_handler(int signal)
{
	(void)signal;
	handled();
	if (++n_handled % 2) {
		n_entered++;
		inner();
	}
}

static void storm(const char *number, const char *where)
{
	struct itimerval every = { { 0, 20 }, { 0, 20 } }, never = { { 0, 0 }, { 0, 0 } };
	int turns = 0, n = atoi(number);

	if (*where == 's')
		set_stack(malloc(2 * STACK));
	handle(SIGALRM, storm_handler, *where == 's' ? SA_ONSTACK : 0);
	setitimer(ITIMER_REAL, &every, NULL);
	for (; n_handled < n; turns++) {
		outer();
		tail_to();
		points(9);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("turns %d\nhandled %d\nentered %d\n", turns, n_handled, n_entered);
}

/* Threads. */

ALONE void *thread(void *p)
{
	for (int i = 0; i < 1000; i++) {
		outer();
		leaf();
	}
	if (p)
		pthread_exit(p);
	return p;
}

static void start_and_join(void)
{
	pthread_t t[4];

	for (long i = 0; i < 4; i++)
		if (pthread_create(&t[i], NULL, thread, (void *)(i % 2)))
			abort();
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void exit_thread(void)
{
	mark();
	pthread_exit(NULL);
}

static void *exiting(void *p)
{
	chosen(1);
	return p;
}

static void *canceled(void *p)
{
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	chosen(1);
	return p;
}

static void sleep_long(void)
{
	sleep(1000);
}

static void threads(void)
{
	pthread_t t;

	inside = start_and_join;
	chosen(1);
	start_and_join();
	inside = exit_thread;
	for (int i = 0; i < TURNS; i++) {
		pthread_create(&t, NULL, exiting, NULL);
		pthread_join(t, NULL);
		tail();
	}
	inside = sleep_long;
	for (int i = 0; i < TURNS; i++) {
		pthread_create(&t, NULL, canceled, NULL);
		pthread_cancel(t);
		pthread_join(t, NULL);
		tail();
	}
}

/* Children. */

static char *own;
extern char **environ;

static void wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		abort();
}

static void fork_here(void)
{
	pid_t pid = fork();

	mark();
	if (pid)
		wait_for(pid);
}

static void vfork_here(void)
{
	pid_t pid = vfork();

	mark();
	if (!pid)
		execl(own, own, "called", (char *)NULL);
	wait_for(pid);
}

static void spawn_here(void)
{
	char word[] = "called", *words[] = { own, word, NULL };
	pid_t pid;

	if (posix_spawn(&pid, own, NULL, NULL, words, environ))
		abort();
	wait_for(pid);
}

static void children(const char *how)
{
	pid_t me = getpid();

	inside = *how == 'f' ? fork_here : *how == 'v' ? vfork_here : spawn_here;
	chosen(1);
	tail();
	if (getpid() != me)
		exit(0);
}

static void exec_here(void)
{
	execl(own, own, "called", (char *)NULL);
}

static void called(void)
{
	many(leaf, 7);
	chosen(2);
}

#ifdef WITH_LIBRARIES
/* Libraries: FUNCTION of each by turns, N times; elsewhere each time if told so. */
static void libraries(char **words)
{
	for (int n = atoi(words[0]); n; n--)
		for (char **path = words + 2; *path; path++) {
			void *library = dlopen(*path, RTLD_NOW);
			void (*function)(int) =
				(void (*)(int))(uintptr_t)dlsym(library, "function");
			Dl_info info;

			dladdr((void *)(uintptr_t)function, &info);
			function(n);
			dlclose(library);
			if (*words[1] == 'm')
				mmap(info.dli_fbase, 1, PROT_NONE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		}
}

#endif

/* For a while: each number that is read is of calls. */
static void lasting(void)
{
	int n;

	puts("ready");
	fflush(stdout);
	while (scanf("%d", &n) == 1) {
		for (int i = 0; i < n; i++) {
			outer();
			leaf();
		}
		puts("done");
		fflush(stdout);
	}
}

static void flags(void)
{
	many(needing, TURNS);
}

static void nests(void)
{
	many(leaf, TURNS);
	for (int i = 0; i < 20; i++) {
		even(i);
		odd(i);
	}
}

static void often(const char *number)
{
	for (long i = atol(number); i; i--)
		caller(1);
}

static const struct {
	const char *name;
	void (*run)(void);
} all[] = {
	{ "calls", call_all },
	{ "flags", flags },
	{ "nests", nests },
	{ "jumps", jump },
	{ "coroutines", coroutines },
	{ "up-and-down", up_and_down },
	{ "handlers", handlers_that_return },
	{ "handlers-autodisarm", handlers_that_return_without_stack },
	{ "handlers-jump", handlers_that_jump },
	{ "handlers-context", handlers_that_set_contexts },
	{ "handlers-enter", handlers_that_enter },
	{ "threads", threads },
	{ "called", called },
	{ "lasting", lasting },
};

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	own = argv[0];
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(all[i].name, name) == 0)
			all[i].run();
	if (strcmp(name, "storm") == 0)
		storm(argv[2], argv[3]);
	if (strcmp(name, "children") == 0)
		children(argv[2]);
#ifdef WITH_LIBRARIES
	if (strcmp(name, "libraries") == 0)
		libraries(argv + 2);
#endif
	if (strcmp(name, "often") == 0)
		often(argv[2]);
	if (strcmp(name, "exec") == 0) {
		inside = exec_here;
		chosen(1);
	}
	if (strcmp(name, "exits") == 0) {
		atexit(mark);
		again(7);
	}
	printf("%d\n", sum);
	return 0;
}
