/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/debug_server.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S UINT64_C(1000000000)

struct client;
typedef int progress_fn(struct client *c, long done, long total);
typedef int find_fn(struct client *c, const unsigned char *build_id, int size,
		    char **ret_path);

/* The parts of libdebuginfod that are used, in its own signatures. */
struct library {
	struct client *(*begin)(void);
	void (*end)(struct client *c);
	void (*set_progress)(struct client *c, progress_fn *fn);
	find_fn *find[2]; /* by enum debug_server_kind */
};

static uint64_t spent_ns; /* of this process, on downloads */
static uint64_t deadline_ns;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* Called while a transfer runs; anything but 0 ends it. */
static int stop_late(struct client *c, long done, long total)
{
	(void)c, (void)done, (void)total;
	return now_ns() > deadline_ns;
}

static const struct library *load(void)
{
	static struct library lib;
	static bool is_tried;
	void *so;

	if (is_tried)
		return lib.begin ? &lib : NULL;
	is_tried = true;
	so = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!so)
		return NULL;
	lib.end = (void (*)(struct client *))dlsym(so, "debuginfod_end");
	lib.set_progress = (void (*)(struct client *, progress_fn *))dlsym(
		so, "debuginfod_set_progressfn");
	lib.find[DEBUG_SERVER_BINARY] =
		(find_fn *)dlsym(so, "debuginfod_find_executable");
	lib.find[DEBUG_SERVER_DEBUG] = (find_fn *)dlsym(so, "debuginfod_find_debuginfo");
	if (lib.end && lib.set_progress && lib.find[0] && lib.find[1])
		lib.begin = (struct client * (*)(void)) dlsym(so, "debuginfod_begin");
	return lib.begin ? &lib : NULL;
}

static bool is_configured(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls;
}

static const char *problem_of(int code, uint64_t now)
{
	if (now >= deadline_ns || code == -ETIME || code == -ETIMEDOUT)
		return "the debug servers were too slow: fetch it with debuginfod-find "
		       "and report again";
	if (code == -ENOENT)
		return "the debug servers do not have it";
	return "the debug servers in DEBUGINFOD_URLS cannot be reached";
}

char *debug_server_find(enum debug_server_kind kind, const uint8_t *build_id, size_t size,
			const char **ret_problem)
{
	const uint64_t budget = DEBUG_SERVER_SECONDS * NS_PER_S;
	const struct library *lib;
	uint64_t begin = now_ns();
	struct client *c;
	char *path = NULL;
	int fd;

	if (!is_configured())
		return NULL;
	lib = load();
	if (!lib) {
		*ret_problem =
			"debug servers need libdebuginfod1, which is not installed";
		return NULL;
	}
	if (spent_ns >= budget) {
		*ret_problem = problem_of(-ETIME, begin);
		return NULL;
	}
	c = lib->begin();
	if (!c)
		return NULL;
	deadline_ns = begin + budget - spent_ns;
	lib->set_progress(c, stop_late);
	fd = lib->find[kind](c, build_id, (int)size, &path);
	lib->end(c);
	spent_ns += now_ns() - begin;
	if (fd < 0) {
		*ret_problem = problem_of(fd, now_ns());
		return NULL;
	}
	close(fd);
	return path;
}
