/* SPDX-License-Identifier: Apache-2.0
 *
 * visited_executes - a program that executes itself in every way there is, each time
 * with another number of blocks to take, and says whether what was executed has found
 * its environment as it should be.
 * Does what lines of its input say, and answers each:
 *	WAY N		executes itself by that call, to take N blocks
 *	handler N	does so in a handler of a signal that has a small stack
 *	large N		does so with as many words as the kernel takes
 *	held N		has a child execute it when it gets SIGUSR1; says its id
 *	bare		has the kernel execute what sleeps, past the C library
 *	manners		finds what it has the shell do to be as it should
 *	busy N		has the shell execute it while a thread changes the environment,
 *			which need not succeed
 *	become		goes on as another image of itself
 *	run PROGRAM	has that one beside, until its own input ends; says its id
 *	user		is no longer root's
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#define NOINLINE __attribute__((noinline))

extern char **environ;

static char self[4096], name[256];
static unsigned n_wrong;
static pid_t child;
static void *volatile kept;

static void check(int is_right)
{
	n_wrong += !is_right;
}

/* What the kernel has told lies behind the environment. */
static unsigned long page_bytes(void)
{
	const unsigned long *at;
	char **env = environ;

	while (*env)
		env++;
	for (at = (const unsigned long *)(env + 1); *at; at += 2)
		if (*at == AT_PAGESZ)
			return at[1];
	return 0;
}

static void check_variables(void)
{
	const char *mine = getenv("VISITED");

	check(mine && !strcmp(mine, "yes"));
	check(!getenv("LD_PRELOAD") && !getenv("DWELL_TRACER") &&
	      !getenv("ASAN_OPTIONS"));
}

/* As whoever executed it has it. */
static void check_environment(void)
{
	check(page_bytes() == (unsigned long)sysconf(_SC_PAGESIZE));
	check_variables();
}

NOINLINE void take(int n)
{
	for (int i = 0; i < n; i++)
		kept = malloc(77);
}

static void by_execl(char **words)
{
	execl(self, words[0], words[1], words[2], (char *)NULL);
}

static void by_execle(char **words)
{
	execle(self, words[0], words[1], words[2], (char *)NULL, environ);
}

static void by_execlp(char **words)
{
	execlp(name, words[0], words[1], words[2], (char *)NULL);
}

static void by_execv(char **words)
{
	execv(self, words);
}

static void by_execve(char **words)
{
	execve(self, words, environ);
}

static void by_execveat(char **words)
{
	int fd = open(self, O_RDONLY | O_CLOEXEC);

	execveat(fd, "", words, environ, AT_EMPTY_PATH);
}

static void by_execvp(char **words)
{
	execvp(name, words);
}

static void by_execvpe(char **words)
{
	execvpe(name, words, environ);
}

static void by_fexecve(char **words)
{
	fexecve(open(self, O_RDONLY | O_CLOEXEC), words, environ);
}

/* Paths that have none come first, as a shell tries them. */
static void by_many(char **words)
{
	execve("/there/is/none", words, environ);
	execve("/", words, environ);
	execve(self, words, environ);
}

/* Words of so many bytes behind the three, that the kernel takes or not. */
static int run_large(char **words, size_t bytes)
{
	enum { WORD_BYTES = 100000, N_MAX = 100 };
	static char word[WORD_BYTES], last[WORD_BYTES];
	char *all[N_MAX + 5] = { words[0], words[1], words[2] };
	size_t n = bytes / WORD_BYTES;
	int status = -1, rc;
	pid_t pid;

	memset(word, 'x', sizeof(word) - 1);
	memset(last, 'x', bytes % WORD_BYTES);
	last[bytes % WORD_BYTES] = 0;
	for (size_t i = 0; i <= n; i++)
		all[3 + i] = i < n ? word : last;
	rc = posix_spawn(&pid, self, NULL, NULL, all, environ);
	if (rc == 0)
		check(waitpid(pid, &status, 0) == pid && status == 0);
	return rc;
}

/* Up to 6 MB, whatever stacks may have. */
static void execute_large(char **words)
{
	static size_t most, too_many = 7 << 20;

	while (!most || too_many - most > 1) {
		size_t bytes = (most + too_many) / 2;

		*(run_large(words, bytes) ? &too_many : &most) = bytes;
	}
	check(run_large(words, most) == 0 && run_large(words, too_many) == E2BIG);
}

static char **handlers_words;
static const char *handlers_frame;

static void handle(int signal)
{
	(void)signal;
	if (handlers_frame) {
		execvp(name, handlers_words);
		_exit(9);
	}
	handlers_frame = __builtin_frame_address(0);
}

/* The first time it says how much the kernel puts there; a page below is nobody's. */
static void by_handler(char **words)
{
	size_t bytes = 65536, page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *stack = memory + page;
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };

	mprotect(memory, page, PROT_NONE);
	execvp("/there/is/none", words); /* so the call has been looked up */
	handlers_words = words;
	sigaction(SIGUSR1, &action, NULL);
	sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = bytes }, NULL);
	raise(SIGUSR1);
	bytes -= (size_t)(handlers_frame - stack) - 3000;
	sigaltstack(&(stack_t){ .ss_sp = stack, .ss_size = bytes }, NULL);
	raise(SIGUSR1);
}

static const struct {
	const char *name;
	void (*execute)(char **words);
} ways[] = {
	{ "execl", by_execl },	 { "execle", by_execle },   { "execlp", by_execlp },
	{ "execv", by_execv },	 { "execve", by_execve },   { "execveat", by_execveat },
	{ "execvp", by_execvp }, { "execvpe", by_execvpe }, { "fexecve", by_fexecve },
	{ "many", by_many },	 { "handler", by_handler },
};

static void wait_for(pid_t pid)
{
	int status = -1;

	check(waitpid(pid, &status, 0) == pid && status == 0);
}

static void by_system(const char *n)
{
	char command[4200];

	snprintf(command, sizeof(command), "exec '%s' taken %s", self, n);
	check(system(command) == 0);
}

static void by_popen(const char *n)
{
	char command[4200];
	FILE *f;

	snprintf(command, sizeof(command), "exec '%s' taken %s", self, n);
	f = popen(command, "re");
	check(f && fcntl(fileno(f), F_GETFD) == FD_CLOEXEC && fgetc(f) == EOF);
	check(f && pclose(f) == 0);
}

static void by_wordexp(const char *n)
{
	char words[4200];
	wordexp_t found = { 0 };

	snprintf(words, sizeof(words), "a $('%s' taken %s) b", self, n);
	check(wordexp(words, &found, 0) == 0 && found.we_wordc == 2);
	wordfree(&found);
}

/* The shell is executed by the C library itself. */
static const struct {
	const char *name;
	void (*execute)(const char *n);
} shells[] = {
	{ "system", by_system },
	{ "popen", by_popen },
	{ "wordexp", by_wordexp },
};

static volatile sig_atomic_t n_interrupts;

static void count_interrupt(int signal)
{
	n_interrupts += signal == SIGINT;
}

/* What programs may rely on: exit states, signals, streams. */
static void check_manners(void)
{
	struct sigaction action = { .sa_handler = count_interrupt }, now;
	sigset_t blocked;
	int lowest = dup(0);
	char answer[16] = "";
	FILE *f;

	close(lowest);
	sigaction(SIGINT, &action, NULL);
	check(system(NULL) != 0);
	check(system("exit 3") == 3 << 8 && system("kill -9 $$") == SIGKILL);
	check(system("kill -INT $PPID; kill -QUIT $PPID") == 0 && n_interrupts == 0);
	check(system("trap - INT; kill -INT $$") == SIGINT);
	check(sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == count_interrupt);
	check(sigprocmask(SIG_BLOCK, NULL, &blocked) == 0 &&
	      !sigismember(&blocked, SIGCHLD));
	f = popen("read x && test $x = yes && exit 4", "w");
	check(f && fputs("yes\n", f) > 0 && pclose(f) == 4 << 8);
	f = popen("echo $0 $PPID", "r");
	check(f && fgets(answer, sizeof(answer), f) && pclose(f) == 0);
	check(!strncmp(answer, "sh ", 3) && atoi(answer + 3) == getpid());
	check(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
	check(dup(0) == lowest && close(lowest) == 0);
	sigaction(SIGINT, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
}

static volatile int is_over;

static void *change_environment(void *unused)
{
	char variable[32], value[300] = "";

	for (unsigned i = 0; !is_over; i++) {
		snprintf(variable, sizeof(variable), "CHANGES_%u", i % 200);
		memset(value, 'a' + i % 26, i % 299);
		value[i % 299] = 0;
		setenv(variable, value, 1);
		check_variables();
		if (i % 7 == 0)
			unsetenv(variable);
	}
	for (unsigned i = 0; i < 200; i++) {
		snprintf(variable, sizeof(variable), "CHANGES_%u", i);
		unsetenv(variable);
	}
	return unused;
}

static void execute_while_busy(const char *n)
{
	char command[4200];
	pthread_t changes;

	snprintf(command, sizeof(command), "exec '%s' taken %s", self, n);
	is_over = 0;
	check(pthread_create(&changes, NULL, change_environment, NULL) == 0);
	for (int i = 0; i < 20; i++)
		check(system(command) >= 0);
	is_over = 1;
	pthread_join(changes, NULL);
	check_variables();
}

static void execute(const char *way, char *n)
{
	char taken[] = "taken", *words[] = { self, taken, n, NULL };
	pid_t pid = 0;

	if (!strcmp(way, "posix_spawn")) {
		check(posix_spawn(&pid, self, NULL, NULL, words, environ) == 0);
	} else if (!strcmp(way, "posix_spawnp")) {
		check(posix_spawnp(&pid, name, NULL, NULL, words, environ) == 0);
	} else if (!strcmp(way, "vfork")) {
		pid = vfork();
		if (pid == 0) {
			execve(self, words, environ);
			_exit(9);
		}
	} else if (!strcmp(way, "large")) {
		execute_large(words);
		return;
	} else if (!strcmp(way, "bare")) {
		char slept[] = "sleep", time[] = ".3", *sleeps[] = { slept, time, NULL };

		pid = fork();
		if (pid == 0)
			_exit((int)syscall(SYS_execve, "/bin/sleep", sleeps, environ));
	} else if (!strcmp(way, "manners")) {
		check_manners();
		return;
	} else if (!strcmp(way, "busy")) {
		execute_while_busy(n);
		return;
	} else {
		for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
			if (!strcmp(way, shells[i].name)) {
				shells[i].execute(n);
				check_variables();
				return;
			}
		pid = fork();
		for (size_t i = 0; pid == 0 && i < sizeof(ways) / sizeof(ways[0]); i++)
			if (!strcmp(way, ways[i].name))
				ways[i].execute(words);
		if (pid == 0)
			_exit(9);
	}
	wait_for(pid);
}

static void hold(char *n)
{
	char taken[] = "taken", *words[] = { self, taken, n, NULL };
	sigset_t set, was;
	int got;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &was);
	child = fork();
	if (child == 0) {
		sigwait(&set, &got);
		sigprocmask(SIG_SETMASK, &was, NULL);
		execve(self, words, environ);
		_exit(9);
	}
	sigprocmask(SIG_SETMASK, &was, NULL);
}

static void run(char *program)
{
	char *words[] = { program, NULL };
	posix_spawn_file_actions_t actions;
	int to_live[2];

	if (pipe2(to_live, O_CLOEXEC) < 0)
		exit(3);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, to_live[0], 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	check(posix_spawn(&child, program, &actions, NULL, words, environ) == 0);
	close(to_live[0]);
}

static void obey(char *line)
{
	char *rest;

	line[strcspn(line, "\n")] = 0;
	rest = strchr(line, ' ');
	if (rest)
		*rest++ = 0;
	if (!strcmp(line, "become"))
		execl(self, self, "again", (char *)NULL);
	else if (!strcmp(line, "user"))
		check(setuid(65534) == 0);
	else if (!strcmp(line, "run"))
		run(rest);
	else if (!strcmp(line, "held"))
		hold(rest);
	else
		execute(line, rest);
}

static int be_executed(char **argv)
{
	check_environment();
	take(atoi(argv[2]));
	return n_wrong != 0;
}

int main(int argc, char **argv)
{
	static char line[4096];
	char *slash;

	if (argc > 2)
		return be_executed(argv);
	if (argc > 1)
		check_environment();
	check(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	slash = strrchr(self, '/');
	snprintf(name, sizeof(name), "%s", slash + 1);
	setenv("VISITED", "yes", 1);
	*slash = 0;
	setenv("PATH", self, 1);
	*slash = '/';
	/* What is to be read by another image may not be kept in this one. */
	setvbuf(stdin, NULL, _IONBF, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf(argc > 1 ? "again\n" : "ready\n");
	while (fgets(line, sizeof(line), stdin)) {
		obey(line);
		printf("%u wrong, child %d\n", n_wrong, child);
	}
	return n_wrong != 0;
}
