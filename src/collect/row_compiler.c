/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/row_compiler.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "collect/row_cache.h"

struct waiting {
	struct row_compiler_file file; /* its descriptor and texts are ours */
	off_t bytes;
};

struct row_compiler {
	struct row_cache *cache;
	pthread_t thread;
	bool has_thread;
	int fd;
	/* Of what follows. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_ending;
	VEC(struct waiting) waiting;
	VEC(struct row_compiler_result) done;
};

/* By threads of this process: recorders meet the same large file at the same time, and
 * the others find what the first one has kept. */
static pthread_mutex_t compiling = PTHREAD_MUTEX_INITIALIZER;

struct row_compiler *row_compiler_new(struct row_cache *cache)
{
	struct row_compiler *c = xcalloc(1, sizeof(*c));

	c->cache = cache;
	c->fd = -1;
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	return c;
}

static void waiting_fini(struct waiting *w)
{
	closep(&w->file.fd);
	free((char *)w->file.name);
	free((char *)w->file.key);
}

static void end_thread(struct row_compiler *c)
{
	pthread_mutex_lock(&c->lock);
	c->is_ending = true;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
}

void row_compiler_free(struct row_compiler *c)
{
	if (!c)
		return;
	if (c->has_thread)
		end_thread(c);
	vec_each(w, &c->waiting)
		waiting_fini(w);
	vec_each(r, &c->done)
		row_pack_fini(&r->pack);
	vec_fini(&c->waiting);
	vec_fini(&c->done);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	closep(&c->fd);
	free(c);
}

void row_compiler_freep(struct row_compiler **c)
{
	row_compiler_free(*c);
}

int row_compiler_run(struct row_compiler *c, const struct row_compiler_file *f,
		     struct row_pack *ret)
{
	int rc;

	if (*f->key && row_cache_find(c->cache, f->key, f->layout, ret))
		return 0;
	rc = row_pack_compile(f->fd, f->name, ret, NULL);
	if (rc == 0 && *f->key)
		row_cache_keep(c->cache, f->key, f->layout, ret);
	return rc;
}

/* The lock is held. */
static struct waiting take_smallest(struct row_compiler *c)
{
	size_t at = 0;
	struct waiting w;

	for (size_t i = 1; i < c->waiting.n; i++)
		if (c->waiting.at[i].bytes < c->waiting.at[at].bytes)
			at = i;
	w = c->waiting.at[at];
	c->waiting.at[at] = c->waiting.at[--c->waiting.n];
	return w;
}

static void *work(void *arg)
{
	struct row_compiler *c = arg;

	pthread_mutex_lock(&c->lock);
	for (;;) {
		struct row_compiler_result r = { 0 };
		struct waiting w;

		while (!c->waiting.n && !c->is_ending)
			pthread_cond_wait(&c->changed, &c->lock);
		if (c->is_ending)
			break;
		w = take_smallest(c);
		pthread_mutex_unlock(&c->lock);
		r.image = w.file.image;
		pthread_mutex_lock(&compiling);
		r.rc = row_compiler_run(c, &w.file, &r.pack);
		pthread_mutex_unlock(&compiling);
		waiting_fini(&w);
		pthread_mutex_lock(&c->lock);
		*vec_push(&c->done) = r;
		eventfd_write(c->fd, 1);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* Signals are for the thread that waits for them. */
static bool begin_thread(struct row_compiler *c)
{
	sigset_t all, before;

	if (c->fd < 0)
		c->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->fd < 0)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	c->has_thread = pthread_create(&c->thread, NULL, work, c) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return c->has_thread;
}

static bool copy(const struct row_compiler_file *f, struct waiting *ret)
{
	struct stat st;
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return false;
	*ret = (struct waiting){ .file = *f,
				 .bytes = fstat(fd, &st) == 0 ? st.st_size : 0 };
	ret->file.fd = fd;
	ret->file.name = xstrdup(f->name);
	ret->file.key = xstrdup(f->key);
	return true;
}

bool row_compiler_add(struct row_compiler *c, const struct row_compiler_file *f)
{
	struct waiting w;

	if ((!c->has_thread && !begin_thread(c)) || !copy(f, &w))
		return false;
	pthread_mutex_lock(&c->lock);
	*vec_push(&c->waiting) = w;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
	return true;
}

bool row_compiler_take(struct row_compiler *c, struct row_compiler_result *ret)
{
	eventfd_t n;
	bool is_done;

	if (!c->has_thread)
		return false;
	pthread_mutex_lock(&c->lock);
	is_done = c->done.n != 0;
	if (is_done)
		*ret = c->done.at[--c->done.n];
	else
		eventfd_read(c->fd, &n);
	pthread_mutex_unlock(&c->lock);
	return is_done;
}

int row_compiler_fd(const struct row_compiler *c)
{
	return c->fd;
}
