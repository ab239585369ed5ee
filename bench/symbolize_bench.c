/* SPDX-License-Identifier: Apache-2.0 */
/* usage: symbolize_bench FILE [ADDRESSES]
 *
 * Names distinct random code addresses of a file with all their inlined frames, empty
 * caches, readable names, and asks llvm-symbolizer the same in the same run.
 * symbolize_program.py builds a file worth the trouble. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/map.h"
#include "base/mem.h"
#include "sym/object.h"
#include "sym/symbolizer.h"

#define NS_PER_S 1e9

struct addresses {
	uint64_t *link_time, *offsets;
	size_t n;
};

struct cost {
	double wall_s, cpu_s, rss_mb;
	uint64_t n_frames;
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / NS_PER_S;
}

static struct cost usage(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (struct cost){
		.cpu_s = (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			 (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6,
		.rss_mb = (double)u.ru_maxrss / 1024,
	};
}

static uint64_t random_u64(void)
{
	static uint64_t state = 1;

	return hash_u64(state++);
}

/* Distinct addresses all over .text, at most one in two bytes of it. */
static struct addresses choose(const char *path, size_t n)
{
	own(object_freep) struct object *o = NULL;
	struct addresses a = { 0 };
	struct map seen = { 0 };
	const struct object_section *text;

	if (object_open(path, &o, NULL) < 0 || !(text = object_find(o, ".text")))
		return a;
	if (n > text->size / 2)
		n = text->size / 2;
	a.link_time = xcalloc(n + 1, sizeof(*a.link_time));
	a.offsets = xcalloc(n + 1, sizeof(*a.offsets));
	while (a.n < n) {
		uint64_t at = random_u64() % text->size;
		bool is_new;

		map_slot(&seen, at, &is_new);
		if (!is_new)
			continue;
		a.link_time[a.n] = text->address + at;
		a.offsets[a.n++] = text->offset + at;
	}
	map_fini(&seen);
	return a;
}

static struct cost run_dwell(const char *path, const struct addresses *a)
{
	own(freep) struct sym_result *results = xcalloc(a->n + 1, sizeof(*results));
	own(freep) bool *is_return = xcalloc(a->n + 1, sizeof(*is_return));
	struct sym_image_ref ref = { .kind = SYM_ELF, .path = path };
	struct cost before = usage(RUSAGE_SELF), after;
	double begin = now_s();
	own(symbolizer_freep) struct symbolizer *s = symbolizer_new(NULL);
	uint32_t image = symbolizer_image(s, &ref);

	symbolizer_resolve(s, image, a->offsets, is_return, a->n, results);
	after = usage(RUSAGE_SELF);
	after.wall_s = now_s() - begin;
	after.cpu_s -= before.cpu_s;
	after.rss_mb -= before.rss_mb;
	for (size_t i = 0; i < a->n; i++)
		after.n_frames += results[i].n_frames;
	return after;
}

/* Every frame is two lines, every address one empty line. */
static uint64_t count_frames(FILE *f, size_t n_addresses)
{
	uint64_t lines = 0;
	int c;

	while ((c = getc(f)) != EOF)
		lines += c == '\n';
	return lines > n_addresses ? (lines - n_addresses) / 2 : 0;
}

static bool run_oracle(const char *path, const struct addresses *a, struct cost *ret)
{
	char list[] = "/tmp/symbolize_bench_XXXXXX";
	int fd = mkstemp(list);
	own(fclosep) FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	own(freep) char *command = xasprintf(
		"llvm-symbolizer --inlines -e '%s' < %s 2>/dev/null", path, list);
	double begin;
	FILE *p;
	int rc;

	if (!f)
		return false;
	for (size_t i = 0; i < a->n; i++)
		fprintf(f, "0x%" PRIx64 "\n", a->link_time[i]);
	fflush(f);
	begin = now_s();
	p = popen(command, "re");
	if (!p)
		return false;

	uint64_t n_frames = count_frames(p, a->n);

	rc = pclose(p);
	*ret = usage(RUSAGE_CHILDREN);
	ret->wall_s = now_s() - begin;
	ret->n_frames = n_frames;
	unlink(list);
	return rc == 0;
}

static void print_cost(const char *name, const struct cost *c)
{
	printf("%-16s %8.2f s %8.2f s CPU %8.0f MB %10" PRIu64 " frames\n", name,
	       c->wall_s, c->cpu_s, c->rss_mb, c->n_frames);
}

int main(int argc, char **argv)
{
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 100000;
	struct addresses a = { 0 };
	struct cost ours, oracle;

	if (argc > 1)
		a = choose(argv[1], n);
	if (!a.n) {
		fprintf(stderr, "usage: symbolize_bench FILE [ADDRESSES]\n");
		return 2;
	}
	printf("%zu addresses of %s\n", a.n, argv[1]);
	ours = run_dwell(argv[1], &a);
	print_cost("dwell", &ours);
	if (run_oracle(argv[1], &a, &oracle))
		print_cost("llvm-symbolizer", &oracle);
	else
		printf("llvm-symbolizer is not installed\n");
	free(a.link_time);
	free(a.offsets);
	return 0;
}
