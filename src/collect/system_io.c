/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_io.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "collect/io_calls.h"
#include "collect/io_requests.h"
#include "collect/io_steps.h"
#include "collect/system_apart.h"
#include "collect/system_hooks.h"
#include "collect/system_types.h"
#include "host/kernel.h"
#include "io.skel.h"

#define N_SCRATCHES 2
#define MORE_BYTES  (IO_RECORD_MORE_MAX * sizeof(struct io_record_more))

struct system_io {
	struct system_io_settings settings;
	struct io *skeleton;
	struct system_programs programs;
	struct io_record_more *more; /* in the kernel */
	bool sees_requests;
};

/* Calls are const for the programs, which have their own copy of what they are not. */
static void configure_calls(struct io *k)
{
	for (unsigned is_32bit = 0; is_32bit < 2; is_32bit++) {
		struct io_record_call calls[IO_RECORD_CALLS_MAX];

		io_calls_number(calls, is_32bit);
		_Static_assert(sizeof(k->rodata->io_calls[0]) == sizeof(calls), "layout");
		memcpy((void *)k->rodata->io_calls[is_32bit], calls, sizeof(calls));
	}
}

/* Where the kernel has no such tracepoints, io_uring is not there, or older than all that
 * is known of it here. */
static void configure_requests(struct system_io *s, const struct btf *kernel)
{
	struct io *k = s->skeleton;
	struct bpf_program *programs[] = { k->progs.submitted, k->progs.completed,
					   k->progs.overflowed };
	struct io_record_request requests[IO_RECORD_REQUESTS_MAX];
	struct io_requests_told told;

	io_requests_told(kernel, &told);
	s->sees_requests =
		told.submit &&
		bpf_program__set_attach_target(k->progs.submitted, 0, told.submit) == 0;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		bpf_program__set_autoload(programs[i], s->sees_requests);
	io_requests_number(requests, IO_CALLS_REQUESTS);
	_Static_assert(sizeof(k->rodata->io_requests) == sizeof(requests), "layout");
	memcpy((void *)k->rodata->io_requests, requests, sizeof(requests));
	k->rodata->has_told_completion = told.is_completion_told;
}

/* One of each kind is not needed. */
static void choose_programs(struct system_io *s)
{
	struct io *k = s->skeleton;
	bool is_flat = s->settings.is_flat, has_earlier = s->settings.has_earlier;

	bpf_program__set_autoload(k->progs.entered, !is_flat);
	bpf_program__set_autoload(k->progs.entered_flat, is_flat);
	bpf_program__set_autoload(k->progs.left, !has_earlier);
	bpf_program__set_autoload(k->progs.left_earlier, has_earlier);
}

static void configure(struct system_io *s, const struct btf *kernel)
{
	struct io *k = s->skeleton;

	choose_programs(s);
	k->rodata->has_no_stacks = s->settings.is_flat;
	k->rodata->has_earlier = s->settings.has_earlier;
	k->rodata->tells_each = s->settings.tells_each;
	k->rodata->tells_unfinished = s->settings.tells_unfinished;
	SYSTEM_THREADS_CONFIGURE(k, &s->settings.whom);
	bpf_map__set_max_entries(k->maps.scratches, N_SCRATCHES);
	configure_calls(k);
	configure_requests(s, kernel);
}

static int load(struct system_io *s, struct err *e)
{
	own(system_types_fini) struct system_types types = SYSTEM_TYPES_NONE;
	LIBBPF_OPTS(bpf_object_open_opts, o);
	void *more;
	int rc;

	system_rings_silence_libbpf();
	system_types_init(&types);
	o.btf_custom_path = system_types_path(&types);
	s->skeleton = io__open_opts(&o);
	if (!s->skeleton)
		return err_os(e, "cannot open the BPF programs");
	configure(s, types.kernel);
	rc = system_types_pick(&types, s->skeleton->obj, e);
	if (rc < 0)
		return rc;
	if (io__load(s->skeleton) != 0)
		return err_os(e, "cannot load the BPF programs");
	more = mmap(NULL, MORE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		    bpf_map__fd(s->skeleton->maps.io_more), 0);
	if (more == MAP_FAILED)
		return err_os(e, "cannot map a BPF map");
	s->more = more;
	return 0;
}

static int open_programs(struct system_io *s, const struct system_threads_sink *sink,
			 struct err *e)
{
	struct system_threads_parts parts = SYSTEM_THREADS_PARTS(s->skeleton);

	parts.cpus = s->settings.whom.cpus;
	parts.is_last_cut = &s->skeleton->bss->is_last_cut;
	parts.is_end = &s->skeleton->bss->is_end;
	s->programs.maps = SYSTEM_CODE_MAPS(s->skeleton);
	return system_programs_open(&s->programs, &parts, sink, e);
}

int system_io_new(const struct system_io_settings *settings,
		  const struct system_threads_sink *sink, struct system_io **ret,
		  struct err *e)
{
	own(system_io_freep) struct system_io *s = xcalloc(1, sizeof(*s));
	int rc;

	s->settings = *settings;
	rc = load(s, e);
	if (rc == 0)
		rc = open_programs(s, sink, e);
	if (rc < 0)
		return rc;
	*ret = steal(&s);
	return 0;
}

void system_io_free(struct system_io *s)
{
	if (!s)
		return;
	system_programs_fini(&s->programs);
	if (s->more)
		munmap(s->more, MORE_BYTES);
	io__destroy(s->skeleton);
	free(s);
}

void system_io_freep(struct system_io **s)
{
	system_io_free(*s);
}

const struct system_programs *system_io_programs(const struct system_io *s)
{
	return &s->programs;
}

/* Returns are seen before calls are, so that none returns unseen that was seen to begin.
 */
int system_io_start(struct system_io *s, struct err *e)
{
	struct io *k = s->skeleton;
	const struct system_hook hooks[] = {
		{ "executed", k->progs.executed, &k->links.executed },
		{ "began", k->progs.began, &k->links.began },
		{ "ended", k->progs.ended, &k->links.ended },
		{ "left", k->progs.left, &k->links.left },
		{ "left_earlier", k->progs.left_earlier, &k->links.left_earlier },
		{ "entered", k->progs.entered, &k->links.entered },
		{ "entered_flat", k->progs.entered_flat, &k->links.entered_flat },
		{ "overflowed", k->progs.overflowed, &k->links.overflowed },
		{ "completed", k->progs.completed, &k->links.completed },
		{ "submitted", k->progs.submitted, &k->links.submitted },
	};
	int rc = system_hooks_attach(hooks, sizeof(hooks) / sizeof(hooks[0]), e);

	return rc < 0 ? rc : system_threads_begin(s->programs.threads, e);
}

static uint64_t take_u64(uint64_t *at)
{
	return *at ? __atomic_exchange_n(at, 0, __ATOMIC_SEQ_CST) : 0;
}

void system_io_take_more(struct system_io *s, uint32_t number, struct io_record_more *ret)
{
	uint32_t slot = io_record_more_slot(number);
	struct io_record_more *at;

	*ret = (struct io_record_more){ 0 };
	if (slot == IO_RECORD_MORE_NONE)
		return;
	at = &s->more[slot];
	ret->asked = take_u64(&at->asked);
	io_steps_take(ret->sizes, at->sizes, IO_RECORD_SIZES);
	io_steps_take(ret->times, at->times, IO_RECORD_TIMES);
	ret->n_unfinished = __atomic_exchange_n(&at->n_unfinished, 0, __ATOMIC_RELAXED);
	ret->n_begun_before =
		__atomic_exchange_n(&at->n_begun_before, 0, __ATOMIC_RELAXED);
	ret->unfinished_ns = take_u64(&at->unfinished_ns);
}

uint64_t system_io_n_unsized(const struct system_io *s)
{
	return s->skeleton->bss->io_n_unsized;
}

bool system_io_sees_requests(const struct system_io *s)
{
	return s->sees_requests;
}

uint64_t system_io_n_unmet(const struct system_io *s)
{
	return s->skeleton->bss->requests_n_unmet;
}

void system_io_stop(struct system_io *s)
{
	io__detach(s->skeleton);
	system_programs_stop(&s->programs, NULL, 0);
}
