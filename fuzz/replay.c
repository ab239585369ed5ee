/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over its corpus as an ordinary test: every file as it is, cut
 * short, and with bytes changed (always the same ones, so that a failure repeats).
 *
 *	usage: replay CORPUS-DIR...
 */
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/own.h"

#define INPUT_MAX_BYTES (1u << 20)
#define CUTS		64
#define CHANGES		256
#define HANG_SECONDS	20 /* one input; sanitizers and busy machines included */
#define BUDGET_SECONDS	10 /* of variations, all files together */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char current[PATH_MAX + 64]; /* what runs now, for the message */
static unsigned n_inputs;

static void fatal_signal(int number)
{
	static const char text[] = "\nnot ok 1 - failed on ";
	ssize_t n = write(STDOUT_FILENO, text, sizeof(text) - 1);

	n += write(STDOUT_FILENO, current, strlen(current));
	n += write(STDOUT_FILENO, "\n", 1);
	_exit(n < 0 || number ? 1 : 0);
}

/* An exact-size copy, so that a sanitizer sees a read past the end. */
static void run_one(const uint8_t *data, size_t size)
{
	own(freep) uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	memcpy(copy, data, size);
	alarm(HANG_SECONDS);
	LLVMFuzzerTestOneInput(copy, size);
	alarm(0);
	n_inputs++;
}

static bool budget_left(void)
{
	return clock() / CLOCKS_PER_SEC < BUDGET_SECONDS;
}

static void run_cuts(const char *path, const uint8_t *data, size_t size)
{
	size_t step = size / CUTS + 1;

	for (size_t n = 0; n < size && budget_left(); n += step) {
		snprintf(current, sizeof(current), "%s cut to %zu bytes", path, n);
		run_one(data, n);
	}
}

static void run_changes(const char *path, uint8_t *data, size_t size)
{
	uint64_t random = 88172645463325252u;

	for (unsigned i = 0; size && i < CHANGES && budget_left(); i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;

		size_t at = (size_t)(random >> 8) % size;
		uint8_t old = data[at];

		data[at] = i & 1 ? (uint8_t)random : old ^ (uint8_t)(1u << (random & 7));
		snprintf(current, sizeof(current), "%s with byte %zu set to %u", path, at,
			 data[at]);
		run_one(data, size);
		data[at] = old;
	}
}

static void run_file(const char *path)
{
	own(fclosep) FILE *f = fopen(path, "rb");
	own(freep) uint8_t *data = malloc(INPUT_MAX_BYTES);

	if (!f || !data) {
		printf("Bail out! cannot read %s\n", path);
		exit(1);
	}

	size_t size = fread(data, 1, INPUT_MAX_BYTES, f);

	snprintf(current, sizeof(current), "%s", path);
	run_one(data, size);
	run_cuts(path, data, size);
	run_changes(path, data, size);
}

static int is_visible(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* In the order of names, so that two runs are the same. */
static void run_directory(const char *dir)
{
	struct dirent **names;
	int n = scandir(dir, &names, is_visible, alphasort);

	for (int i = 0; i < n; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		run_file(path);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

int main(int argc, char **argv)
{
	static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM };
	uint8_t nothing = 0;

	for (size_t i = 0; i < sizeof(fatal) / sizeof(fatal[0]); i++)
		signal(fatal[i], fatal_signal);
	puts("1..1");
	fflush(stdout);
	snprintf(current, sizeof(current), "the empty input");
	run_one(&nothing, 0);
	for (int i = 1; i < argc; i++)
		run_directory(argv[i]);
	printf("ok 1 - %u inputs\n", n_inputs);
	return 0;
}
