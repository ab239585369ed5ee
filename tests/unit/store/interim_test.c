/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer is stopped before each of its calls that change the file, and in the middle of
 * each that writes: what is there then is what a killed recorder leaves.
 */
#include "store/interim.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
/* Behind sys/ptrace.h, which has some of the same names. */
#include <linux/ptrace.h>

#include <cmocka.h>

#include "base/map.h"
#include "base/mem.h"
#include "scratch_file.h"
#include "store/block_list.h"
#include "store/recording.h"
#include "store/writer.h"

#define N_STEPS	  12
#define B_ENDS	  6 /* of its sums nothing is interim from then on */
#define A_STEP	  10
#define B_STEP	  7
#define C_STEP	  3 /* written at once */
#define A_LAST	  1000
#define B_LAST	  2000
#define N_PLACES  50
#define N_ROUNDS  1000
#define N_SUMS	  100
#define BLOB_SIZE (900u << 10) /* its blocks run into what is behind them */

enum telling { RUNS, TELLS, HAS_TOLD };

/* What the writer has begun and done. */
struct life {
	volatile uint32_t n_begun, n_written, n_done;
	volatile enum telling telling[2]; /* the last sums of the first two */
	uint32_t numbers[2];
	volatile bool is_closing, is_closed;
};

static const char *const path = scratch_file_path;

static void must(int rc, const struct err *e)
{
	if (rc < 0) {
		fprintf(stderr, "%s\n", e->text);
		abort();
	}
}

static void add_basics(struct writer *w)
{
	const struct model_image image = { .path = writer_string(w, "/bin/a") };

	for (uint32_t i = 0; i < 3; i++) {
		writer_process(w, &(struct model_process){ .pid = 7 + i,
							   .parent = MODEL_NONE,
							   .exec_of = MODEL_NONE,
							   .exit_status = -1 });
		writer_thread(w, &(struct model_thread){ .process = i, .tid = 7 + i });
	}
	writer_event(w, &(struct model_event){ .name = writer_string(w, "bytes") });
	writer_image(w, &image);
}

/* One weight for each of its places, and their number as a fact. */
static void tell(struct writer *w, uint32_t process, uint32_t step, uint64_t weight)
{
	for (uint32_t i = 0; i < N_PLACES; i++) {
		uint32_t location = writer_location(w, 0, 16 * i + step % 2, 0);
		const struct model_sample s = { .thread = process,
						.stack = writer_stack(w, 0, location),
						.count = 1,
						.weight = weight };

		writer_sample(w, &s);
	}
	writer_fact(w, &(struct model_fact){ .name = writer_string(w, "told"),
					     .event = MODEL_NONE,
					     .process = process,
					     .value = weight * N_PLACES });
}

static void keep_blob(struct writer *w, uint32_t step)
{
	own(freep) uint8_t *bytes = xcalloc(1, BLOB_SIZE);
	struct err e = { 0 };
	uint32_t x = step + 1;

	for (size_t i = 0; i < BLOB_SIZE; i++)
		bytes[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
	must(writer_blob(w,
			 &(struct model_blob){ .name = writer_string(w, "b"),
					       .image = MODEL_NONE,
					       .size_bytes = BLOB_SIZE },
			 bytes, &e),
	     &e);
}

static void tell_last(struct writer *w, uint32_t process, uint64_t weight,
		      struct life *life)
{
	life->telling[process] = TELLS;
	writer_last_sums_begin(w, life->numbers[process]);
	tell(w, process, 0, weight);
	writer_last_sums_end(w, life->numbers[process]);
	life->telling[process] = HAS_TOLD;
}

static void tell_interim(struct writer *w, uint32_t process, uint32_t step,
			 uint64_t weight, struct life *life)
{
	uint32_t *number = &life->numbers[process];

	*number = writer_interim_of(w, *number);
	tell(w, process, step, weight * step);
}

static void take_step(struct writer *w, uint32_t i, struct life *life)
{
	struct err e = { 0 };

	life->n_begun = i;
	if (i == B_ENDS)
		tell_last(w, 1, B_LAST, life);
	tell(w, 2, i, C_STEP);
	must(writer_flush(w, &e), &e);
	life->n_written = i;
	if (i % 4 == 3)
		keep_blob(w, i);
	must(writer_interim_begin(w) ? 0 : -1, &e);
	if (i < B_ENDS)
		tell_interim(w, 1, i, B_STEP, life);
	tell_interim(w, 0, i, A_STEP, life);
	must(writer_interim_end(w, i, i + 1, &e), &e);
	life->n_done = i;
}

static void live(struct life *life)
{
	const struct writer_options o = { .keeps_room = true };
	struct writer *w = NULL;
	struct err e = { 0 };

	must(writer_create(path, &o, &w, &e), &e);
	add_basics(w);
	must(writer_flush(w, &e), &e);
	for (uint32_t i = 1; i <= N_STEPS; i++)
		take_step(w, i, life);
	life->is_closing = true;
	tell_last(w, 0, A_LAST, life);
	must(writer_close(w, &e), &e);
	life->is_closed = true;
}

/* Sums of weights by process. */
static void sum(const struct recording *r, uint64_t ret[3])
{
	own(sample_block_fini) struct sample_block b = { 0 };
	struct err e = { 0 };

	memset(ret, 0, 3 * sizeof(*ret));
	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		must(recording_read_samples(r, i, SAMPLE_THREAD | SAMPLE_WEIGHT, &b, &e),
		     &e);
		for (size_t k = 0; k < b.n; k++)
			ret[b.thread[k]] += b.weight[k];
	}
}

/* Facts are there once, and say the same; of the third one the last. */
static bool facts_agree(const struct recording *r, const uint64_t sums[3])
{
	unsigned n[3] = { 0 };

	for (uint32_t i = 0; i < recording_n_facts(r); i++) {
		const struct model_fact *f = recording_fact(r, i);

		n[f->process]++;
		if (f->process < 2 && f->value != sums[f->process])
			return false;
	}
	return n[0] <= 1 && n[1] <= 1 && n[2] <= 1;
}

/* The last sums, when all of them are there. */
static bool is_one_of(uint64_t sum, uint64_t interim, uint64_t last, enum telling telling)
{
	return (sum == N_PLACES * interim && telling != HAS_TOLD) ||
	       (sum == N_PLACES * last && telling != RUNS);
}

static bool is_consistent(const struct life *life, const struct recording *r)
{
	uint64_t sums[3], time_ns, next_ns;
	bool has = recording_has_interim(r, &time_ns, &next_ns);
	uint64_t i = has ? time_ns : life->n_done;

	sum(r, sums);
	if (!facts_agree(r, sums) || (has && next_ns != i + 1))
		return false;
	if (!has && !life->is_closing)
		return !i;
	if (has && life->telling[0] == HAS_TOLD)
		return false; /* and so has the other one by then */
	/* Not older than the last one that was done; and whatever is written is there. */
	return i >= life->n_done && i <= life->n_begun &&
	       is_one_of(sums[0], A_STEP * i, A_LAST, life->telling[0]) &&
	       is_one_of(sums[1], B_STEP * i, B_LAST, life->telling[1]) &&
	       sums[2] % (N_PLACES * C_STEP) == 0 &&
	       sums[2] >= (uint64_t)N_PLACES * C_STEP * life->n_written;
}

static void check_left(const struct life *life)
{
	struct recording *r = NULL;
	struct err e = { 0 };

	must(recording_open(path, &r, &e), &e);
	if (!is_consistent(life, r) || !recording_is_sound(r)) {
		uint64_t sums[3], time_ns, next_ns;

		sum(r, sums);
		fail_msg("begun %u done %u closing %d: interim %d of %lu, sums %lu %lu "
			 "%lu, %s",
			 life->n_begun, life->n_done, life->is_closing,
			 recording_has_interim(r, &time_ns, &next_ns), time_ns, sums[0],
			 sums[1], sums[2], recording_damage(r));
	}
	recording_free(r);
}

/* Who follows the recording all the time sees nothing but its blocks. */
static void follow(struct recording **r)
{
	struct err e = { 0 };

	must(*r ? recording_follow(*r, &e) : recording_open_growing(path, r, &e), &e);
	if (!recording_is_sound(*r))
		fail_msg("to a follower: %s", recording_damage(*r));
}

static void check_whole(const struct recording *r)
{
	uint64_t sums[3], time_ns, next_ns;

	assert_null(recording_damage(r));
	assert_false(recording_has_interim(r, &time_ns, &next_ns));
	sum(r, sums);
	assert_int_equal(sums[0], N_PLACES * A_LAST);
	assert_int_equal(sums[1], N_PLACES * B_LAST);
	assert_int_equal(sums[2], N_PLACES * C_STEP * N_STEPS);
}

static void read_memory(pid_t pid, uint64_t at, void *to, size_t n)
{
	for (size_t i = 0; i < n; i += sizeof(long)) {
		long word = ptrace(PTRACE_PEEKDATA, pid, at + i, NULL);
		size_t some = n - i < sizeof(long) ? n - i : sizeof(long);

		memcpy((uint8_t *)to + i, &word, some);
	}
}

/* Half of it gets into the file before the kill. */
static void check_torn(const struct life *life, struct recording **follower, pid_t pid,
		       const struct __ptrace_syscall_info *call)
{
	size_t n = (size_t)call->entry.args[2] / 2;
	off_t at = (off_t)call->entry.args[3];
	own(freep) uint8_t *half = xcalloc(1, n + 1);
	own(freep) uint8_t *was = xcalloc(1, n + 1);
	own(closep) int fd = open(path, O_RDWR);
	off_t size = lseek(fd, 0, SEEK_END);

	assert_true(fd >= 0);
	memset(was, 0, n);

	ssize_t had = pread(fd, was, n, at);

	read_memory(pid, call->entry.args[1], half, n);
	assert_int_equal(pwrite(fd, half, n, at), n);
	check_left(life);
	follow(follower);
	if (had > 0)
		assert_int_equal(pwrite(fd, was, (size_t)had, at), had);
	assert_int_equal(ftruncate(fd, size), 0);
}

/* Steps it to its next call; false: it has ended. */
static bool step(pid_t pid, struct __ptrace_syscall_info *ret)
{
	int status;

	if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) != 0 ||
	    waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return false;
	memset(ret, 0, sizeof(*ret));
	ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(*ret), ret);
	return true;
}

/* -1: nobody is traced here, as in an emulator. */
static pid_t begin(struct life *life)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
			_exit(0);
		raise(SIGSTOP);
		live(life);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return -1;
	ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
	return pid;
}

static void whenever_its_recorder_is_killed_a_recording_is_of_one_moment(void **state)
{
	struct life *life = mmap(NULL, sizeof(*life), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	own(recording_freep) struct recording *follower = NULL;
	struct __ptrace_syscall_info call;
	unsigned n_writes = 0, n_cuts = 0;

	(void)state;
	unlink(path);

	pid_t pid = begin(life);

	if (pid < 0)
		skip();
	while (step(pid, &call)) {
		bool is_write = call.entry.nr == SYS_pwrite64;

		if (call.op != PTRACE_SYSCALL_INFO_ENTRY || !life->n_begun ||
		    (!is_write && call.entry.nr != SYS_ftruncate))
			continue;
		check_left(life);
		follow(&follower);
		if (is_write)
			check_torn(life, &follower, pid, &call);
		n_writes += is_write;
		n_cuts += !is_write;
	}
	assert_true(life->is_closed);
	assert_true(n_writes > 3 * N_STEPS && n_cuts > 0);
	follow(&follower);
	check_whole(follower);

	/* Nothing of it is left. */
	struct recording *r = NULL;
	struct err e = { 0 };

	must(recording_open(path, &r, &e), &e);
	check_whole(r);
	assert_true(recording_bytes(r) < 4u * BLOB_SIZE);
	recording_free(r);
	munmap(life, sizeof(*life));
}

/* Between its learning how long the file is and its reading of it. */
static void a_follower_does_not_mind_that_they_are_cut_off(void **state)
{
	const struct writer_options o = { 0 };
	own(writer_freep) struct writer *w = NULL;
	struct life life = { 0 };
	struct block_source s = { 0 };
	struct block_list l = { .is_growing = true };
	struct damage damage = { 0 };
	struct err e = { 0 };

	(void)state;
	unlink(path);
	must(writer_create(path, &o, &w, &e), &e);
	add_basics(w);
	take_step(w, 1, &life);
	must(block_source_open(&s, path, &e), &e);
	must(block_list_read(&l, &s, &damage, &e), &e);
	assert_true(l.has_interim && l.whole_bytes + INTERIM_GAP_BYTES < s.size);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(truncate(path, (off_t)(l.whole_bytes + 5000 * !i)), 0);
		must(block_list_follow(&l, &s, &damage, &e), &e);
		assert_int_equal(damage.n_findings, 0);
	}
	block_list_fini(&l);
	block_source_fini(&s);
}

static void flip(uint64_t off)
{
	own(closep) int fd = open(path, O_RDWR);
	uint8_t byte;

	assert_int_equal(pread(fd, &byte, 1, (off_t)off), 1);
	byte ^= 0x10;
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)off), 1);
}

/* Where each of the marks is. */
static size_t find_marks(struct format_entry *ret, size_t max)
{
	struct block_source s = { 0 };
	struct block_list l = { 0 };
	struct damage damage = { 0 };
	struct err e = { 0 };
	size_t n = 0;

	must(block_source_open(&s, path, &e), &e);
	must(block_list_read(&l, &s, &damage, &e), &e);
	vec_each(b, &l.blocks) {
		if (b->kind == FORMAT_SUMS_MARK && n < max)
			ret[n++] = *b;
	}
	block_list_fini(&l);
	block_source_fini(&s);
	return n;
}

static void check_damaged(uint64_t off)
{
	own(recording_freep) struct recording *r = NULL;
	struct err e = { 0 };
	uint64_t sums[3];

	flip(off);
	must(recording_open(path, &r, &e), &e);
	sum(r, sums);
	assert_int_equal(sums[0], N_PLACES * A_LAST);
	assert_int_equal(sums[2], 2 * N_PLACES * C_STEP);
	flip(off);
}

/* The recorder is killed some time after it has told the last sums. */
static void a_damaged_mark_hides_nothing(void **state)
{
	const struct writer_options o = { 0 };
	struct writer *w = NULL;
	struct life life = { 0 };
	struct format_entry marks[3];
	struct err e = { 0 };

	(void)state;
	unlink(path);
	must(writer_create(path, &o, &w, &e), &e);
	add_basics(w);
	take_step(w, 1, &life);
	tell_last(w, 0, A_LAST, &life);
	tell(w, 2, 2, C_STEP);
	must(writer_flush(w, &e), &e);
	writer_free(w);
	assert_int_equal(find_marks(marks, 3), 2);
	for (int i = 0; i < 2; i++)
		for (uint64_t k = 0; k < BLOCK_HEADER_BYTES + marks[i].stored_size; k++)
			check_damaged(marks[i].offset + k);
}

static uint64_t n_read(void)
{
	own(fclosep) FILE *f = fopen("/proc/self/io", "re");
	uint64_t n = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "rchar: %" SCNu64, &n), 1);
	return n;
}

/* Between the blocks and the last sums are remains of many others, whose headers are
 * whole. */
static void remains_of_others_are_not_read_each(void **state)
{
	const struct writer_options o = { 0 };
	struct writer *w = NULL;
	struct recording *r = NULL;
	struct err e = { 0 };
	uint64_t sums[3], before;

	(void)state;
	unlink(path);
	must(writer_create(path, &o, &w, &e), &e);
	add_basics(w);
	for (uint32_t i = 1; i <= N_ROUNDS; i++) {
		writer_info(w, "round", i % 2 ? "1" : "2");
		must(writer_interim_begin(w) ? 0 : -1, &e);
		for (uint32_t k = 0; k < N_SUMS; k++)
			tell(w, 0, i, i);
		must(writer_interim_end(w, i, i + 1, &e), &e);
	}
	writer_free(w);
	before = n_read();
	must(recording_open(path, &r, &e), &e);
	before = n_read() - before;
	print_message("# %" PRIu64 " of %" PRIu64 " bytes\n", before, recording_bytes(r));
	sum(r, sums);
	assert_int_equal(sums[0], (uint64_t)N_SUMS * N_PLACES * N_ROUNDS);
	assert_true(before < 8 * recording_bytes(r));
	recording_free(r);
}

static uint64_t size_of_file(void)
{
	own(closep) int fd = open(path, O_RDONLY);

	return (uint64_t)lseek(fd, 0, SEEK_END);
}

static void no_sums_make_a_recording_larger_than_it_may_be(void **state)
{
	const struct writer_options o = { .max_bytes = 1u << 20 };
	own(writer_freep) struct writer *w = NULL;
	struct err e = { 0 };
	uint64_t most = 0;

	(void)state;
	unlink(path);
	must(writer_create(path, &o, &w, &e), &e);
	add_basics(w);
	must(writer_interim_begin(w) ? 0 : -1, &e);
	assert_int_equal(writer_interim_of(w, 0), 1);
	tell(w, 0, 1, 1);
	must(writer_interim_end(w, 1, 2, &e), &e);
	most = size_of_file();
	assert_true(most > INTERIM_GAP_BYTES);
	for (uint32_t i = 0; most < 3 * o.max_bytes / 4 && i < 100000; i++) {
		tell(w, 2, i, i);
		must(writer_flush(w, &e), &e);
		most = size_of_file() > most ? size_of_file() : most;
	}
	writer_last_sums_begin(w, 1);
	writer_last_sums_end(w, 1);
	for (uint32_t i = 0; i < 2000; i++) {
		tell(w, 2, i, i);
		must(writer_flush(w, &e), &e);
		most = size_of_file() > most ? size_of_file() : most;
	}
	print_message("# %" PRIu64 " bytes\n", most);
	assert_true(most > o.max_bytes / 2 && most <= o.max_bytes);
}

/* What does not get smaller by compression. */
static void tell_much(struct writer *w, uint32_t process, uint32_t n)
{
	uint64_t x = n;

	for (uint32_t i = 0; i < n; i++)
		tell(w, process, i, (x = hash_u64(x + 1)) >> 16);
}

static void last_sums_without_room_leave_interim_ones(void **state)
{
	const struct writer_options o = { .max_bytes = 1u << 20 };
	own(recording_freep) struct recording *r = NULL;
	struct writer *w = NULL;
	struct life life = { 0 };
	struct err e = { 0 };
	uint64_t sums[3];

	(void)state;
	unlink(path);
	must(writer_create(path, &o, &w, &e), &e);
	add_basics(w);
	/* Until interim sums come to be behind all that there is room for. */
	while (writer_bytes(w) < o.max_bytes - INTERIM_GAP_BYTES - (56u << 10)) {
		tell_much(w, 2, 10);
		must(writer_flush(w, &e), &e);
	}
	must(writer_interim_begin(w) ? 0 : -1, &e);
	tell_interim(w, 0, 1, A_STEP, &life);
	must(writer_interim_end(w, 1, 2, &e), &e);
	writer_last_sums_begin(w, life.numbers[0]);
	for (int i = 0; i < 100 && !writer_lost_samples(w); i++)
		tell_much(w, 0, 1000);
	writer_last_sums_end(w, life.numbers[0]);
	assert_true(writer_lost_samples(w) > 0);
	writer_free(w);
	must(recording_open(path, &r, &e), &e);
	sum(r, sums);
	assert_int_equal(sums[0], N_PLACES * A_STEP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			whenever_its_recorder_is_killed_a_recording_is_of_one_moment,
			scratch_file_make, scratch_file_remove),
		cmocka_unit_test_setup_teardown(
			a_follower_does_not_mind_that_they_are_cut_off, scratch_file_make,
			scratch_file_remove),
		cmocka_unit_test_setup_teardown(a_damaged_mark_hides_nothing,
						scratch_file_make, scratch_file_remove),
		cmocka_unit_test_setup_teardown(remains_of_others_are_not_read_each,
						scratch_file_make, scratch_file_remove),
		cmocka_unit_test_setup_teardown(
			no_sums_make_a_recording_larger_than_it_may_be, scratch_file_make,
			scratch_file_remove),
		cmocka_unit_test_setup_teardown(last_sums_without_room_leave_interim_ones,
						scratch_file_make, scratch_file_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
