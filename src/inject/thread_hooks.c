/* SPDX-License-Identifier: Apache-2.0
 *
 * thread_hooks - what this library wraps: the start of threads, and pthread_cancel.
 *
 * Exported without a version, so that references to every version of pthread_create
 * meet the wrapper.
 */
#include <pthread.h>
#include <threads.h>

#include "inject/next.h"
#include "inject/runtime.h"
#include "inject/sandbox.h"

#define EXPORT __attribute__((visibility("default")))

typedef int pthread_create_fn(pthread_t *thread, const pthread_attr_t *attr,
			      void *(*start)(void *), void *arg);
typedef int thrd_create_fn(thrd_t *thread, thrd_start_t start, void *arg);
typedef void pthread_exit_fn(void *ret);
typedef int pthread_cancel_fn(pthread_t thread);

__attribute__((
	weak)) extern __typeof__(pthread_attr_getstacksize) pthread_attr_getstacksize;

/* Looked up at the first call: the C library's threads may be loaded late. */
static void *next_of(void **cached, const char *name)
{
	void *p = __atomic_load_n(cached, __ATOMIC_RELAXED);

	if (p)
		return p;
	p = next_symbol(name);
	__atomic_store_n(cached, p, __ATOMIC_RELAXED);
	return p;
}

/* What a thread gets that is created without attributes is not known; this is what
 * its stack has at least, and deeper frames are read with care. */
#define STACK_BYTES_DEFAULT (128 << 10)

static size_t stack_bytes_of(const pthread_attr_t *attr)
{
	size_t size = 0;

	if (!attr || !pthread_attr_getstacksize ||
	    pthread_attr_getstacksize(attr, &size) != 0)
		return STACK_BYTES_DEFAULT;
	return size;
}

static struct slot *slot_for(const pthread_attr_t *attr, void *(*start)(void *),
			     void *arg)
{
	struct slot *s;

	runtime_check_fork();
	if (runtime.is_on && sandbox_is_on()) {
		ring_count(&runtime.ring.header->n_threads_refused, 1);
		return NULL;
	}
	s = runtime.is_on ? slot_new() : NULL;
	if (!s)
		return NULL;
	s->start = start;
	s->arg = arg;
	s->stack_lo = stack_bytes_of(attr); /* until the thread knows its place */
	return s;
}

/* The slot may be another thread's as soon as this one has left it. */
static void *run(void *p)
{
	struct slot *s = p;
	void *ret;

	runtime_thread_enter(s, (uintptr_t)__builtin_frame_address(0), s->stack_lo);
	ret = s->start(s->arg);
	runtime_thread_leave(s);
	return ret;
}

static int run_c11(void *p)
{
	struct slot *s = p;
	int ret;

	runtime_thread_enter(s, (uintptr_t)__builtin_frame_address(0), s->stack_lo);
	ret = ((thrd_start_t)(void *)s->start)(s->arg);
	runtime_thread_leave(s);
	return ret;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*start)(void *), void *arg)
{
	static void *cached;
	pthread_create_fn *next = (pthread_create_fn *)next_of(&cached, "pthread_create");
	struct slot *s = slot_for(attr, start, arg);
	int rc;

	if (!s)
		return next(thread, attr, start, arg);
	rc = next(thread, attr, run, s);
	if (rc != 0)
		slot_free(s);
	return rc;
}

EXPORT int thrd_create(thrd_t *thread, thrd_start_t start, void *arg)
{
	static void *cached;
	thrd_create_fn *next = (thrd_create_fn *)next_of(&cached, "thrd_create");
	struct slot *s = slot_for(NULL, (void *(*)(void *))(void *)start, arg);
	int rc;

	if (!s)
		return next(thread, start, arg);
	rc = next(thread, run_c11, s);
	if (rc != thrd_success)
		slot_free(s);
	return rc;
}

EXPORT void pthread_exit(void *ret)
{
	static void *cached;
	pthread_exit_fn *next = (pthread_exit_fn *)next_of(&cached, "pthread_exit");
	struct slot *s = runtime.is_on ? slot_mine() : NULL;

	if (s)
		runtime_thread_leave(s);
	next(ret);
	__builtin_unreachable();
}

EXPORT int pthread_cancel(pthread_t thread)
{
	static void *cached;
	pthread_cancel_fn *next = (pthread_cancel_fn *)next_of(&cached, "pthread_cancel");
	int rc = next(thread);

	runtime_keep_signal();
	return rc;
}
