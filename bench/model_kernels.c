/* SPDX-License-Identifier: Apache-2.0
 *
 * model_kernels - measures loops whose cost tells what a core does, in cycles.
 *
 *	usage: model_kernels [SECONDS [NAME…]]	measures, 5 seconds by default
 *	       model_kernels --once [NAME…]	runs each alone, to be counted
 *
 * There is no counter of cycles for everybody, and the time stamp counter runs at a
 * rate of its own.  So each run is between two of a reference, a chain of products that
 * take three cycles each (by Intel since 2008, by AMD since Zen; we look), whatever the
 * clock is: the ratio is in cycles of the core.  Runs are short, so that most meet no
 * interrupt; those are not used between which the reference changes.  Who shares the
 * core takes none of the time of a chain, but half of the core's width: so there is a
 * probe, too, which is as wide as the core, and only the runs are used where it is at
 * its best before and after.
 *
 * A line for each: name, kind, bodies in a turn of the loop, turns of a run, ticks and
 * cycles of a turn (medians), cycles that a tenth of the runs is below and a tenth
 * above, and how many runs were used.
 */
#include <cpuid.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#define KERNEL(kind, name, ops, needs, body) void kernel_##name(uint64_t n, void *memory);
#include "model_kernels.def"
#undef KERNEL

void model_loops_prepare(void);

enum {
	ONCE_TURNS = 200000,
	ONCE_HELD_OUT_TURNS = 2000,
	REFERENCE_TURNS = 1000,
	REFERENCE_CYCLES = 3 * 20, /* of a turn */
	PROBE_TURNS = 3000,
	MAX_TURNS = 1 << 16,
	PAIRS = 4, /* in a visit: what was before has left the caches of code */
	MAX_RESULTS = 1024,
};

/* What the references around a run may differ by, and a probe from the best one */
static const double max_drift = 0.002, max_probe = 1.02;

static struct memory {
	void *ring[512]; /* pointers from line to line, all of them */
	uint8_t zeros[4096];
	uint8_t written[4096];
} memory __attribute__((aligned(4096)));

static struct kernel {
	const char *name, *kind, *feature; /* feature: of the CPU, or "" */
	unsigned n_ops;
	void (*run)(uint64_t n, void *memory);
	uint64_t n_turns; /* of a run; 0: not measured */
	unsigned n_results;
	struct result {
		float cycles, ticks; /* of a turn */
		float probe;	     /* cycles of its turn, the worse */
	} results[MAX_RESULTS];
} kernels[] = {
#define KERNEL(kind, name, ops, needs, body)                                             \
	{ #name, #kind, needs, ops, kernel_##name, 0, 0, { { 0, 0, 0 } } },
#include "model_kernels.def"
#undef KERNEL
};

enum {
	N_KERNELS = sizeof(kernels) / sizeof(*kernels),
};

static const struct kernel *reference, *probe;

/* Not all compilers know it by name. */
static int has_lzcnt(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) && (ecx & bit_LZCNT);
}

/* The name must be a literal where the compiler's function is called. */
static int has_feature(const char *name)
{
	const struct {
		const char *name;
		int has;
	} features[] = {
#define FEATURE(name) { name, __builtin_cpu_supports(name) }
		FEATURE("aes"),	   FEATURE("avx2"),   FEATURE("bmi"),
		FEATURE("bmi2"),   FEATURE("fma"),    FEATURE("popcnt"),
		FEATURE("pclmul"), FEATURE("sse3"),   FEATURE("ssse3"),
		FEATURE("sse4.1"), FEATURE("sse4.2"), { "lzcnt", has_lzcnt() },
#undef FEATURE
	};

	for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++)
		if (strcmp(features[i].name, name) == 0)
			return features[i].has;
	return !*name;
}

/* Each line of the ring points to the one 19 lines further, which meets all 64. */
static void prepare(void)
{
	for (unsigned i = 0; i < 64; i++)
		memory.ring[i * 8] = &memory.ring[(i + 19) % 64 * 8];
}

static uint64_t ticks_of(const struct kernel *k, uint64_t n_turns)
{
	unsigned cpu;

	_mm_lfence();

	uint64_t started = __rdtsc();

	_mm_lfence();
	k->run(n_turns, &memory);
	return __rdtscp(&cpu) - started;
}

/* An interrupt takes as long as a run. */
static uint64_t least_ticks_of(const struct kernel *k, uint64_t n_turns)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < 3; i++) {
		uint64_t ticks = ticks_of(k, n_turns);

		least = ticks < least ? ticks : least;
	}
	return least;
}

static const struct kernel *find(const char *name)
{
	for (size_t i = 0; i < N_KERNELS; i++)
		if (strcmp(kernels[i].name, name) == 0)
			return &kernels[i];
	return NULL;
}

static int is_wanted(const struct kernel *k, char **names)
{
	for (char **name = names; *name; name++)
		if (strcmp(k->name, *name) == 0)
			return 1;
	return !*names;
}

/* As many turns as take the time of the reference */
static uint64_t calibrate(const struct kernel *k)
{
	uint64_t wanted = least_ticks_of(reference, REFERENCE_TURNS), n = 1;

	while (n < MAX_TURNS && least_ticks_of(k, n) < wanted)
		n *= 2;
	return n;
}

static void add_result(struct kernel *k)
{
	double before = (double)ticks_of(reference, REFERENCE_TURNS);
	double probe_before = (double)ticks_of(probe, PROBE_TURNS) / PROBE_TURNS;
	double ticks = (double)ticks_of(k, k->n_turns) / (double)k->n_turns;
	double probe_after = (double)ticks_of(probe, PROBE_TURNS) / PROBE_TURNS;
	double after = (double)ticks_of(reference, REFERENCE_TURNS);
	double cycles_per_tick =
		REFERENCE_TURNS * REFERENCE_CYCLES * 2 / (before + after);

	if (before > after * (1 + max_drift) || after > before * (1 + max_drift) ||
	    k->n_results == MAX_RESULTS)
		return;
	k->results[k->n_results++] = (struct result){
		.cycles = (float)(ticks * cycles_per_tick),
		.ticks = (float)ticks,
		.probe = (float)(fmax(probe_before, probe_after) * cycles_per_tick),
	};
}

static void visit(struct kernel *k)
{
	ticks_of(k, k->n_turns);
	ticks_of(reference, REFERENCE_TURNS);
	ticks_of(probe, PROBE_TURNS);
	for (unsigned i = 0; i < PAIRS; i++)
		add_result(k);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int compare_probes(const void *a, const void *b)
{
	const struct result *x = a, *y = b;

	return x->probe < y->probe ? -1 : x->probe > y->probe;
}

static int compare_cycles(const void *a, const void *b)
{
	const struct result *x = a, *y = b;

	return x->cycles < y->cycles ? -1 : x->cycles > y->cycles;
}

/* The probe at its best: the least of all is an accident, of a reference that was
 * interrupted both times. */
static float best_probe(void)
{
	float best = INFINITY;

	for (struct kernel *k = kernels; k < kernels + N_KERNELS; k++) {
		if (!k->n_results)
			continue;
		qsort(k->results, k->n_results, sizeof(*k->results), compare_probes);
		best = fminf(best, k->results[k->n_results / 20].probe);
	}
	return best;
}

/* Leaves the runs beside which the probe was at its best, ordered by their cycles. */
static void choose(struct kernel *k, double best)
{
	unsigned n = 0;

	while (n < k->n_results && (double)k->results[n].probe <= best * max_probe)
		n++;
	k->n_results = n;
	qsort(k->results, n, sizeof(*k->results), compare_cycles);
}

static const struct result *at_share(const struct kernel *k, double share)
{
	return &k->results[(unsigned)(k->n_results * share)];
}

static void print(double tsc_ghz)
{
	double best = (double)best_probe();
	unsigned n_made = 0, n_used = 0;

	for (struct kernel *k = kernels; k < kernels + N_KERNELS; k++) {
		n_made += k->n_results;
		choose(k, best);
		n_used += k->n_results;
		if (k->n_results)
			printf("%s %s %u %lu %.3f %.3f %.3f %.3f %u\n", k->name, k->kind,
			       k->n_ops, (unsigned long)k->n_turns,
			       (double)at_share(k, 0.5)->ticks,
			       (double)at_share(k, 0.5)->cycles,
			       (double)at_share(k, 0.1)->cycles,
			       (double)at_share(k, 0.9)->cycles, k->n_results);
		else if (k->n_turns)
			printf("# %s: the core was never ours alone\n", k->name);
	}
	printf("# time stamp counter %.4f GHz, core %.4f GHz, %.0f %% of the runs alone "
	       "on the core\n",
	       tsc_ghz,
	       tsc_ghz * REFERENCE_CYCLES / (double)at_share(reference, 0.5)->ticks,
	       100.0 * n_used / n_made);
}

/* What makes the rest worthless if it is not so.  By accident it is wrong now and then,
 * as when the clock changes, but not right. */
static int is_reference_right(void)
{
	const struct kernel *other = find("not_chain"); /* of ten cycles */

	for (unsigned i = 0; i < 100; i++) {
		double ticks = (double)least_ticks_of(reference, REFERENCE_TURNS);
		double others = (double)least_ticks_of(
			other, REFERENCE_TURNS * REFERENCE_CYCLES / 10);

		if (fabs(ticks / others - 1) < 0.005)
			return 1;
	}
	return 0;
}

static void measure(double seconds, char **names)
{
	double started = now();
	uint64_t first_tick = __rdtsc();

	ticks_of(reference, ONCE_TURNS); /* the clock goes up */
	if (!is_reference_right()) {
		fprintf(stderr, "model_kernels: a product does not take three cycles\n");
		exit(1);
	}
	for (struct kernel *k = kernels; k < kernels + N_KERNELS; k++) {
		if (has_feature(k->feature) && (k == reference || is_wanted(k, names)))
			k->n_turns = calibrate(k);
		else if (!has_feature(k->feature))
			printf("# %s: this CPU has no %s\n", k->name, k->feature);
	}
	do {
		for (struct kernel *k = kernels; k < kernels + N_KERNELS; k++)
			if (k->n_turns)
				visit(k);
	} while (now() - started < seconds);
	print((double)(__rdtsc() - first_tick) / (now() - started) / 1e9);
}

static void run_once(char **names)
{
	for (const struct kernel *k = kernels; k < kernels + N_KERNELS; k++) {
		uint64_t n = strcmp(k->kind, "held_out") == 0 ? ONCE_HELD_OUT_TURNS
							      : ONCE_TURNS;

		if (!has_feature(k->feature) || !is_wanted(k, names))
			continue;
		k->run(n, &memory);
		printf("%s %lu\n", k->name, (unsigned long)n);
	}
}

int main(int argc, char **argv)
{
	int is_once = argc > 1 && strcmp(argv[1], "--once") == 0;
	char **names = argv + (argc > 1 ? 2 : 1);

	for (char **name = names; *name; name++) {
		if (!find(*name)) {
			fprintf(stderr, "model_kernels: no kernel '%s'\n", *name);
			return 2;
		}
	}
	reference = find("reference");
	probe = find("adds");
	prepare();
	model_loops_prepare();
	if (is_once)
		run_once(names);
	else
		measure(argc > 1 ? atof(argv[1]) : 5, names);
	return 0;
}
