/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_deep.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "collect/perf_deep_code.h"
#include "collect/perf_near_code.h"

#define THREADS_MAX 16384
/* The kernel drops what was not used for long, and threads end, without telling. */
#define KNOWN_MAX (THREADS_MAX / 4)
#define FILES_MIN 256
/* Of the outermost frame: what a walk may look at above its stack pointer. */
#define END_BYTES 64

enum { BODY_FIRST, BODY_NEXT, N_BODIES };

struct perf_deep {
	int bases, wishes, scratch, output;
	int bodies; /* an array of programs: what entries go on with, and its next */
	int body, near;
	int places;	   /* of the near one: what is wished for */
	VEC(int) programs; /* by stream, 0: not loaded */
	uint32_t limit_bytes;
	bool wants_red_zone;
	bool has_near;
	struct perf_wishes wanted;
	uint32_t n_cpus;
	struct perf_pieces pieces;
	struct map known; /* thread → what the program was told of its end */
};

static int sys_bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int create_map(enum bpf_map_type type, uint32_t key_size, uint32_t value_size,
		      uint32_t n, struct err *e)
{
	union bpf_attr a = { .map_type = type,
			     .key_size = key_size,
			     .value_size = value_size,
			     .max_entries = n };
	int fd = sys_bpf(BPF_MAP_CREATE, &a);

	return fd < 0 ? err_os(e, "cannot create a BPF map") : fd;
}

static int load(const struct bpf_insn *code, size_t n, struct err *e)
{
	union bpf_attr a = { .prog_type = BPF_PROG_TYPE_PERF_EVENT,
			     .insn_cnt = (uint32_t)n,
			     .insns = (uintptr_t)code,
			     .license = (uintptr_t) "Dual BSD/GPL" };

	memcpy(a.prog_name, "dwell_deep", sizeof("dwell_deep"));

	int fd = sys_bpf(BPF_PROG_LOAD, &a);

	return fd < 0 ? err_os(e, "cannot load a BPF program") : fd;
}

static struct perf_deep_code_input input_of(const struct perf_deep *d)
{
	return (struct perf_deep_code_input){ .bases = d->bases,
					      .wishes = d->wishes,
					      .scratch = d->scratch,
					      .output = d->output,
					      .red_bytes = PERF_PIECES_RED_BYTES,
					      .limit_bytes = d->limit_bytes };
}

static int set_element(int map, uint32_t key, const void *value, const char *what,
		       struct err *e)
{
	union bpf_attr a = { .map_fd = (uint32_t)map,
			     .key = (uintptr_t)&key,
			     .value = (uintptr_t)value };

	return sys_bpf(BPF_MAP_UPDATE_ELEM, &a) < 0 ? err_os(e, "cannot %s", what) : 0;
}

static int chain(struct perf_deep *d, uint32_t place, int program, struct err *e)
{
	return set_element(d->bodies, place, &program, "chain BPF programs", e);
}

/* The program that all streams share. */
static int load_body(struct perf_deep *d, struct err *e)
{
	struct perf_deep_code_input in = input_of(d);
	struct bpf_insn code[PERF_DEEP_CODE_MAX];

	d->body = load(code, perf_deep_code(&in, code), e);
	return d->body < 0 ? d->body : chain(d, BODY_FIRST, d->body, e);
}

/* Goes before the body. */
static int load_near(struct perf_deep *d, struct err *e)
{
	struct perf_near_code_input in = { .scratch = d->scratch,
					   .output = d->output,
					   .programs = d->bodies,
					   .next = BODY_NEXT,
					   .stack_bytes = d->limit_bytes };
	struct bpf_insn code[PERF_NEAR_CODE_MAX];
	int rc;

	d->places = create_map(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(uint64_t),
			       PERF_WISHES_SLOTS, e);
	in.wishes = d->places;
	d->near = d->places < 0 ? d->places : load(code, perf_near_code(&in, code), e);
	if (d->near < 0)
		return d->near;
	rc = chain(d, BODY_NEXT, d->body, e);
	return rc < 0 ? rc : chain(d, BODY_FIRST, d->near, e);
}

static int load_entry(struct perf_deep *d, uint32_t stream, struct err *e)
{
	struct perf_deep_code_input in = input_of(d);
	struct bpf_insn code[PERF_DEEP_CODE_MAX];

	return load(code, perf_deep_code_entry(&in, d->bodies, stream, code), e);
}

/* The descriptor of the program that writes a stream's samples. */
static int program_of(struct perf_deep *d, uint32_t stream, struct err *e)
{
	int fd;

	while (d->programs.n <= stream)
		*vec_push(&d->programs) = 0;
	if (d->programs.at[stream])
		return d->programs.at[stream];
	fd = load_entry(d, stream, e);
	if (fd >= 0)
		d->programs.at[stream] = fd;
	return fd;
}

static int create_maps(struct perf_deep *d, struct err *e)
{
	d->bases = create_map(BPF_MAP_TYPE_LRU_HASH, sizeof(uint32_t), sizeof(uint64_t),
			      THREADS_MAX, e);
	if (d->bases < 0)
		return d->bases;
	d->wishes =
		create_map(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t), sizeof(uint64_t), 1, e);
	if (d->wishes < 0)
		return d->wishes;
	d->scratch = create_map(BPF_MAP_TYPE_ARRAY, sizeof(uint32_t),
				sizeof(struct perf_deep_piece), d->n_cpus, e);
	if (d->scratch < 0)
		return d->scratch;
	d->output = create_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, sizeof(uint32_t),
			       sizeof(uint32_t), d->n_cpus, e);
	if (d->output < 0)
		return d->output;
	d->bodies = create_map(BPF_MAP_TYPE_PROG_ARRAY, sizeof(uint32_t),
			       sizeof(uint32_t), N_BODIES, e);
	return d->bodies;
}

static void perf_deep_freep(struct perf_deep **d)
{
	perf_deep_free(*d);
}

/* Every descriptor counts where there are so few: events come first. */
static int check_files(struct err *e)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_max >= FILES_MIN)
		return 0;
	return err_set(e, ERR_LIMIT, "less than %d descriptors (see 'ulimit -n')",
		       FILES_MIN);
}

int perf_deep_new(uint32_t n_cpus, uint32_t limit_bytes, bool with_near,
		  struct perf_deep **ret, struct err *e)
{
	own(perf_deep_freep) struct perf_deep *d = xcalloc(1, sizeof(*d));

	d->bases = d->wishes = d->scratch = d->output = -1;
	d->bodies = d->body = d->near = d->places = -1;
	d->n_cpus = n_cpus;
	d->limit_bytes = limit_bytes;
	perf_pieces_init(&d->pieces, d->n_cpus);

	int rc = check_files(e);

	if (rc == 0)
		rc = create_maps(d, e);
	if (rc >= 0)
		rc = load_body(d, e);
	if (rc < 0)
		return rc;
	d->has_near = with_near && load_near(d, NULL) == 0;
	*ret = steal(&d);
	return 0;
}

void perf_deep_free(struct perf_deep *d)
{
	if (!d)
		return;
	perf_pieces_fini(&d->pieces);
	closep(&d->bases);
	closep(&d->wishes);
	closep(&d->scratch);
	closep(&d->output);
	closep(&d->bodies);
	closep(&d->body);
	closep(&d->near);
	closep(&d->places);
	vec_each(fd, &d->programs)
		if (*fd)
			closep(fd);
	vec_fini(&d->programs);
	map_fini(&d->known);
	free(d);
}

int perf_deep_set_output(struct perf_deep *d, uint32_t cpu, int fd, struct err *e)
{
	return set_element(d->output, cpu, &fd, "direct a BPF program's output", e);
}

int perf_deep_attach(struct perf_deep *d, int fd, uint32_t stream, struct err *e)
{
	int program = program_of(d, stream, e);

	if (program < 0)
		return program;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) != 0)
		return err_os(e, "cannot run a BPF program at an event");
	return 0;
}

uint32_t perf_deep_limit_bytes(const struct perf_deep *d)
{
	return d->limit_bytes;
}

struct perf_pieces *perf_deep_pieces(struct perf_deep *d)
{
	return &d->pieces;
}

/* A stack whose end the walk did not reach: all that can be had from now on, beyond gaps,
 * too.  An end is not told at a thread's first sample, for that of a short one is its
 * last, and telling costs as much as what the program does without. */
void perf_deep_learn(struct perf_deep *d, uint32_t tid, uint64_t end)
{
	bool is_first;

	if (d->known.n >= KNOWN_MAX)
		map_clear(&d->known);

	uint64_t *known = map_slot(&d->known, tid, &is_first);
	uint64_t base = end ? end + END_BYTES : UINT64_MAX;
	union bpf_attr a = { .map_fd = (uint32_t)d->bases,
			     .key = (uintptr_t)&tid,
			     .value = (uintptr_t)&base };

	if ((is_first && end) || (!is_first && *known == base))
		return;
	*known = base;
	sys_bpf(BPF_MAP_UPDATE_ELEM, &a);
}

void perf_deep_want_red_zone(struct perf_deep *d)
{
	uint32_t key = 0;
	uint64_t yes = 1;
	union bpf_attr a = { .map_fd = (uint32_t)d->wishes,
			     .key = (uintptr_t)&key,
			     .value = (uintptr_t)&yes };

	if (d->wants_red_zone)
		return;
	d->wants_red_zone = true;
	sys_bpf(BPF_MAP_UPDATE_ELEM, &a);
}

bool perf_deep_has_near(const struct perf_deep *d)
{
	return d->has_near;
}

void perf_deep_want(struct perf_deep *d, uint32_t pid, uint64_t addr)
{
	uint32_t slot;

	if (d->has_near && perf_wishes_miss(&d->wanted, pid, addr, &slot))
		(void)set_element(d->places, slot, &d->wanted.slots[slot], "", NULL);
}
