/* SPDX-License-Identifier: Apache-2.0
 *
 * store_bench - what a large recording costs to write, to keep and to read.
 *
 *	usage: store_bench [MILLIONS-OF-SAMPLES [THOUSANDS-OF-STACKS]]
 *
 * Defaults: 10 million samples of 1 million distinct stacks (five nodes each), on
 * 100,000 places in the code, picked evenly: worse than any program.  Prints one line
 * per figure, name, value and unit, as tab-separated columns.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/own.h"
#include "store/recording.h"
#include "store/writer.h"

#define N_LOCATIONS	100000
#define NODES_PER_STACK 5
#define HOT_STACKS	1000
#define HOT_DEPTH	20
#define N_LOOKUPS	10000000

static uint64_t n_samples = 10000000, n_stacks = 1000000;
static char path[64];

/* CPU time: of one thread that never waits, and others use this machine, too. */
static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void die(const struct err *e)
{
	fprintf(stderr, "store_bench: %s\n", e->text);
	exit(1);
}

static void print(const char *what, double value, const char *unit)
{
	printf("%s\t%.4g\t%s\n", what, value, unit);
	fflush(stdout);
}

static long max_rss_kb(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

/* Where the i-th place is in an image of 64 MB. */
static uint64_t offset_of(uint64_t i)
{
	return i * 640 + hash_u64(i) % 640;
}

static struct writer *create(void)
{
	struct writer *w = NULL;
	struct err e = { 0 };

	if (writer_create(path, NULL, &w, &e) < 0)
		die(&e);
	writer_process(w, &(struct model_process){ .parent = MODEL_NONE,
						   .exec_of = MODEL_NONE });
	for (uint32_t i = 0; i < 8; i++)
		writer_thread(w, &(struct model_thread){ .tid = i });
	writer_event(w, &(struct model_event){ .name = writer_string(w, "cpu-time") });
	writer_image(w, &(struct model_image){ .path = writer_string(w, "/usr/bin/x") });
	for (uint32_t i = 0; i < N_LOCATIONS; i++)
		writer_location(w, 0, offset_of(i), i & 1);
	return w;
}

/* A stack hangs below a random part of an earlier one and adds its own nodes. */
static uint32_t *make_stacks(struct writer *w)
{
	uint32_t *leaves = xcalloc(n_stacks, sizeof(*leaves));
	uint64_t from = now_ns();
	uint64_t newest = 0;

	for (uint64_t i = 0; i < n_stacks; i++) {
		uint32_t stack = (uint32_t)(hash_u64(i) % (newest + 1));

		for (uint64_t k = 0; k < NODES_PER_STACK; k++)
			stack = writer_stack(
				w, stack, (uint32_t)(hash_u64(i * 8 + k) % N_LOCATIONS));
		leaves[i] = stack;
		newest = stack > newest ? stack : newest;
	}
	print("new stack node",
	      (double)(now_ns() - from) / (double)n_stacks / NODES_PER_STACK, "ns");
	return leaves;
}

static void write_samples(struct writer *w, const uint32_t *leaves)
{
	uint64_t from = now_ns();

	for (uint64_t i = 0; i < n_samples; i++) {
		uint64_t random = hash_u64(i);

		writer_sample(w, &(struct model_sample){
					 .time_ns = i * 125000 + random % 4000,
					 .weight = 1000000,
					 .thread = random % 8,
					 .cpu = random >> 8 & 3,
					 .stack = leaves[(random >> 16) % n_stacks],
					 .count = 1,
				 });
	}
	print("sample written", (double)(now_ns() - from) / (double)n_samples, "ns");
}

/* The recorder's usual case: the same stacks again and again. */
static uint64_t walk_hot_stacks(struct writer *w)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < N_LOOKUPS / HOT_DEPTH; i++) {
		uint64_t which = hash_u64(i) % HOT_STACKS;
		uint32_t stack = 0;

		for (uint64_t k = 0; k < HOT_DEPTH; k++)
			stack = writer_stack(w, stack,
					     (uint32_t)((which >> k / 2) * 31 + k));
		sum += stack;
	}
	return sum;
}

static void look_up_known(struct writer *w, const char *what)
{
	uint64_t sum = walk_hot_stacks(w);
	uint64_t from = now_ns();

	sum += walk_hot_stacks(w);
	print(what, (double)(now_ns() - from) / N_LOOKUPS, "ns");
	if (!sum)
		abort();
}

static void look_up_locations(struct writer *w)
{
	uint64_t from = now_ns(), sum = 0;

	for (uint64_t i = 0; i < N_LOOKUPS; i++)
		sum += writer_location(w, 0, offset_of(i % N_LOCATIONS), i & 1);
	print("known location of 100,000", (double)(now_ns() - from) / N_LOOKUPS, "ns");
	if (!sum)
		abort();
}

static void write_recording(void)
{
	struct writer *w = create();
	struct err e = { 0 };

	look_up_known(w, "known stack node");

	own(freep) uint32_t *leaves = make_stacks(w);

	write_samples(w, leaves);
	look_up_known(w, "known stack node among millions");
	look_up_locations(w);

	uint64_t from = now_ns();

	if (writer_close(w, &e) < 0)
		die(&e);
	print("closing", (double)(now_ns() - from) / 1e6, "ms");
	print("writer memory", (double)max_rss_kb() / 1024, "MB");
}

static uint64_t stream(const struct recording *r)
{
	own(sample_block_fini) struct sample_block b = { 0 };
	const unsigned columns =
		SAMPLE_EVENT | SAMPLE_STACK | SAMPLE_WEIGHT | SAMPLE_COUNT;
	uint64_t total = 0;
	struct err e = { 0 };

	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		if (recording_read_samples(r, i, columns, &b, &e) < 0)
			die(&e);
		for (size_t k = 0; k < b.n; k++)
			total += b.weight[k] * b.count[k] + b.stack[k] + b.event[k];
	}
	return total;
}

static void read_recording(void)
{
	own(recording_freep) struct recording *r = NULL;
	struct err e = { 0 };
	uint64_t from = now_ns();

	if (recording_open(path, &r, &e) < 0)
		die(&e);

	uint64_t opened = now_ns();
	uint64_t total = stream(r);
	uint64_t streamed = now_ns();

	print("file", (double)recording_bytes(r) / 1e6, "MB");
	print("file per sample", (double)recording_bytes(r) / (double)n_samples, "bytes");
	print("stack nodes", recording_n_stacks(r), "");
	print("open", (double)(opened - from) / 1e6, "ms");
	print("stream", (double)(streamed - opened) / 1e6, "ms");
	print("open and stream", (double)(streamed - from) / 1e6, "ms");
	print("reader memory", (double)max_rss_kb() / 1024, "MB");
	if (!total)
		abort();
}

/* Each phase in a process of its own: memory is measured by its maximum. */
static int run(void (*phase)(void))
{
	int status = 1;
	pid_t pid = fork();

	if (pid == 0) {
		phase();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return status ? 1 : 0;
}

int main(int argc, char **argv)
{
	const char *dir = getenv("TMPDIR");

	if (argc > 1)
		n_samples = strtoull(argv[1], NULL, 10) * 1000000;
	if (argc > 2)
		n_stacks = strtoull(argv[2], NULL, 10) * 1000;
	if (!n_samples || !n_stacks) {
		fprintf(stderr, "usage: store_bench [MILLIONS-OF-SAMPLES "
				"[THOUSANDS-OF-STACKS]]\n");
		return 2;
	}
	snprintf(path, sizeof(path), "%.30s/store-bench-%d.dwell", dir ? dir : "/tmp",
		 getpid());

	int rc = run(write_recording);

	if (rc == 0)
		rc = run(read_recording);
	unlink(path);
	return rc;
}
