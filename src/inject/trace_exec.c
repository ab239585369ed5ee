/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_exec - what a process that was attached to executes loads the tracer when it
 * begins, as what is started with it does: its environment says so (WIRE_SAMPLER_BRING).
 * What is started with it says so by itself to what it executes, but where it names
 * libraries of its own (LD_PRELOAD) in place of ours: then ours comes before these.
 *
 * Whoever executes may be the child of a vfork, which has its parent's memory and stack,
 * or be within a handler of a signal: the environment is copied to the stack, if that has
 * room for it, and nothing else is kept.  A call that executes what the environment of
 * the process says is made as the one that takes another.
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "bare/sys.h"
#include "inject/environment.h"
#include "inject/exec_program.h"
#include "inject/next.h"
#include "inject/stack_room.h"
#include "inject/trace_exec.h"
#include "inject/trace_runtime.h"
#include "wire/tracer.h"

/* What looking at the program takes of the stack, and what the C library's call does. */
#define LOOK_BYTES 12288
#define CALL_BYTES 4096

#define EXPORT __attribute__((visibility("default")))

__attribute__((weak)) extern int *__errno_location(void);
__attribute__((weak)) extern char **__environ;

typedef char *const *words;

struct exec {
	int (*call)(const struct exec *x);
	int fd, flags;
	const char *program; /* path or name */
	words argv, env;
	int *pid; /* posix_spawn */
	const void *actions, *attributes;
};

/* Pointers to what the C library has, or NULL. */
enum next {
	NEXT_EXECVE,
	NEXT_EXECVEAT,
	NEXT_EXECVPE,
	NEXT_FEXECVE,
	NEXT_SPAWN,
	NEXT_SPAWNP,
	N_NEXT
};

static const char names[N_NEXT][16] = { "execve",  "execveat",	  "execvpe",
					"fexecve", "posix_spawn", "posix_spawnp" };
static void *nexts[N_NEXT];

static void *find(enum next which)
{
	if (!nexts[which])
		nexts[which] = next_symbol(names[which]);
	return nexts[which];
}

void trace_exec_look_up(void)
{
	for (unsigned i = 0; i < N_NEXT; i++)
		find((enum next)i);
}

/* No library has it: whoever calls it has found ours only. */
static int refuse(void)
{
	if (__errno_location)
		*__errno_location() = ENOSYS;
	return -1;
}

typedef int execve_fn(const char *path, words argv, words env);
typedef int execveat_fn(int fd, const char *path, words argv, words env, int flags);
typedef int fexecve_fn(int fd, words argv, words env);
typedef int spawn_fn(int *pid, const char *program, const void *actions,
		     const void *attributes, words argv, words env);

static int call_execve(const struct exec *x)
{
	execve_fn *next = (execve_fn *)find(NEXT_EXECVE);

	return next ? next(x->program, x->argv, x->env) : refuse();
}

static int call_execvpe(const struct exec *x)
{
	execve_fn *next = (execve_fn *)find(NEXT_EXECVPE);

	return next ? next(x->program, x->argv, x->env) : refuse();
}

static int call_execveat(const struct exec *x)
{
	execveat_fn *next = (execveat_fn *)find(NEXT_EXECVEAT);

	return next ? next(x->fd, x->program, x->argv, x->env, x->flags) : refuse();
}

static int call_fexecve(const struct exec *x)
{
	fexecve_fn *next = (fexecve_fn *)find(NEXT_FEXECVE);

	return next ? next(x->fd, x->argv, x->env) : refuse();
}

static int call_spawn(const struct exec *x)
{
	spawn_fn *next = (spawn_fn *)find(NEXT_SPAWN);

	return next ? next(x->pid, x->program, x->actions, x->attributes, x->argv, x->env)
		    : ENOSYS;
}

static int call_spawnp(const struct exec *x)
{
	spawn_fn *next = (spawn_fn *)find(NEXT_SPAWNP);

	return next ? next(x->pid, x->program, x->actions, x->attributes, x->argv, x->env)
		    : ENOSYS;
}

static struct environment_ours ours(void)
{
	return (struct environment_ours){
		.name = WIRE_TRACER_ENV,
		.directory = trace_runtime.meeting.directory,
		.library = WIRE_TRACER_PRELOAD,
		.is_told = !(trace_runtime.meeting.control->flags & WIRE_SAMPLER_BRING),
	};
}

/* Is what is executed to be brought the library?  A child of fork, that has not said
 * anything yet, is not made to for that. */
static bool is_brought(words env)
{
	const struct wire_sampler_control *c = trace_runtime.meeting.control;

	if (!trace_runtime.is_on || !c || !(c->flags & WIRE_SAMPLER_FOLLOW) ||
	    c->is_stopped || !trace_runtime_may_ask() || !stack_room_is(LOOK_BYTES))
		return false;

	const struct environment_ours o = ours();

	return environment_with_bytes(env, &o) != 0;
}

static bool can_open(const char *name, int flags)
{
	char path[WIRE_SAMPLER_DIRECTORY_MAX + 64];
	size_t n = strlen(trace_runtime.meeting.directory);
	int fd;

	memcpy(path, trace_runtime.meeting.directory, n);
	path[n] = '/';
	memcpy(path + n + 1, name, strlen(name) + 1);
	fd = sys_open(path, flags | O_CLOEXEC, 0);
	if (fd >= 0)
		sys_close(fd);
	return fd >= 0;
}

/* Another user, or one with another root, would load nothing and be told so; a recorder
 * that was killed waits for nobody. */
static bool can_meet(void)
{
	return can_open(WIRE_TRACER_LIBRARY, O_RDONLY) &&
	       can_open(WIRE_SAMPLER_CONTROL, O_RDWR) &&
	       !meeting_is_deserted(&trace_runtime.meeting);
}

/* What executes returns -1, and posix_spawn the error. */
static bool was_too_large(int rc)
{
	return rc == E2BIG ||
	       (rc < 0 && __errno_location && *__errno_location() == E2BIG);
}

/* What is as large as the kernel takes leaves no room for ours. */
static int execute_with(const struct exec *x, char **env)
{
	struct exec with = *x;
	int rc;

	with.env = env;
	rc = x->call(&with);
	return was_too_large(rc) ? x->call(x) : rc;
}

static int execute(const struct exec *x, bool is_dynamic)
{
	char **env = NULL;

	if (is_dynamic && can_meet()) {
		const struct environment_ours o = ours();
		size_t bytes = environment_with_bytes(x->env, &o);

		if (bytes && stack_room_is(bytes + CALL_BYTES))
			env = environment_with(x->env, &o, __builtin_alloca(bytes),
					       bytes);
	}
	return env ? execute_with(x, env) : x->call(x);
}

static words environment(void)
{
	return &__environ ? __environ : NULL;
}

static const char *list(void)
{
	return environment_get((char **)(uintptr_t)environment(), "PATH");
}

static int execute_at(const char *path, words argv, words env)
{
	return execute(
		&(struct exec){
			.call = call_execve, .program = path, .argv = argv, .env = env },
		is_brought(env) && exec_program_at(AT_FDCWD, path));
}

static int execute_named(const char *name, words argv, words env)
{
	return execute(
		&(struct exec){
			.call = call_execvpe, .program = name, .argv = argv, .env = env },
		is_brought(env) && exec_program_named(name, list()));
}

EXPORT execve_fn trace_exec_execve __asm__("execve");
EXPORT execve_fn trace_exec_execvpe __asm__("execvpe");
EXPORT execveat_fn trace_exec_execveat __asm__("execveat");
EXPORT fexecve_fn trace_exec_fexecve __asm__("fexecve");
EXPORT spawn_fn trace_exec_spawn __asm__("posix_spawn");
EXPORT spawn_fn trace_exec_spawnp __asm__("posix_spawnp");

int trace_exec_execve(const char *path, words argv, words env)
{
	return execute_at(path, argv, env);
}

int trace_exec_execvpe(const char *name, words argv, words env)
{
	return execute_named(name, argv, env);
}

int trace_exec_execveat(int fd, const char *path, words argv, words env, int flags)
{
	bool is_itself = path && !*path && flags & AT_EMPTY_PATH;
	bool is_dynamic = is_brought(env) && (is_itself ? exec_program_is_dynamic(fd)
							: exec_program_at(fd, path));

	return execute(&(struct exec){ .call = call_execveat,
				       .fd = fd,
				       .flags = flags,
				       .program = path,
				       .argv = argv,
				       .env = env },
		       is_dynamic);
}

int trace_exec_fexecve(int fd, words argv, words env)
{
	return execute(
		&(struct exec){
			.call = call_fexecve, .fd = fd, .argv = argv, .env = env },
		is_brought(env) && exec_program_is_dynamic(fd));
}

int trace_exec_spawn(int *pid, const char *path, const void *actions,
		     const void *attributes, words argv, words env)
{
	return execute(&(struct exec){ .call = call_spawn,
				       .program = path,
				       .argv = argv,
				       .env = env,
				       .pid = pid,
				       .actions = actions,
				       .attributes = attributes },
		       is_brought(env) && exec_program_at(AT_FDCWD, path));
}

int trace_exec_spawnp(int *pid, const char *name, const void *actions,
		      const void *attributes, words argv, words env)
{
	return execute(&(struct exec){ .call = call_spawnp,
				       .program = name,
				       .argv = argv,
				       .env = env,
				       .pid = pid,
				       .actions = actions,
				       .attributes = attributes },
		       is_brought(env) && exec_program_named(name, list()));
}

/* Those that take the environment of the process. */

typedef int execv_fn(const char *path, words argv);

EXPORT execv_fn trace_exec_execv __asm__("execv");
EXPORT execv_fn trace_exec_execvp __asm__("execvp");

int trace_exec_execv(const char *path, words argv)
{
	return execute_at(path, argv, environment());
}

int trace_exec_execvp(const char *name, words argv)
{
	return execute_named(name, argv, environment());
}

/* Those that take words one by one, up to a NULL. */

typedef int execl_fn(const char *path, const char *first, ...);

EXPORT execl_fn trace_exec_execl __asm__("execl");
EXPORT execl_fn trace_exec_execlp __asm__("execlp");
EXPORT execl_fn trace_exec_execle __asm__("execle");

static size_t count(const char *first, va_list *rest)
{
	size_t n = 0;

	for (const char *word = first; word; word = va_arg(*rest, const char *))
		n++;
	return n;
}

static void take(const char *first, va_list *rest, const char **argv)
{
	for (const char *word = first; word; word = va_arg(*rest, const char *))
		*argv++ = word;
	*argv = NULL;
}

#define ARGV(first)                                                                      \
	va_list rest;                                                                    \
	const char **argv;                                                               \
                                                                                         \
	va_start(rest, first);                                                           \
	argv = __builtin_alloca((count(first, &rest) + 1) * sizeof(*argv));              \
	va_end(rest);                                                                    \
	va_start(rest, first);                                                           \
	take(first, &rest, argv)

int trace_exec_execl(const char *path, const char *first, ...)
{
	ARGV(first);
	va_end(rest);
	return execute_at(path, (words)(uintptr_t)argv, environment());
}

int trace_exec_execlp(const char *name, const char *first, ...)
{
	ARGV(first);
	va_end(rest);
	return execute_named(name, (words)(uintptr_t)argv, environment());
}

int trace_exec_execle(const char *path, const char *first, ...)
{
	words env;

	ARGV(first);
	env = va_arg(rest, words);
	va_end(rest);
	return execute_at(path, (words)(uintptr_t)argv, env);
}
