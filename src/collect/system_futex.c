/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_futex.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "collect/futex_calls.h"
#include "collect/io_steps.h"
#include "collect/system_apart.h"
#include "collect/system_hooks.h"
#include "collect/system_types.h"
#include "host/kernel.h"
#include "futex.skel.h"

#define N_SCRATCHES 3
#define MORE_BYTES  (IO_RECORD_MORE_MAX * sizeof(struct futex_record_more))

struct system_futex {
	struct system_futex_settings settings;
	struct futex *skeleton;
	struct system_programs programs;
	struct futex_record_more *more; /* in the kernel */
};

static void configure_calls(struct futex *k)
{
	for (unsigned is_32bit = 0; is_32bit < 2; is_32bit++) {
		uint8_t calls[FUTEX_RECORD_CALLS_MAX];

		futex_calls_number(calls, is_32bit);
		_Static_assert(sizeof(k->rodata->futex_calls[0]) == sizeof(calls),
			       "layout");
		memcpy((void *)k->rodata->futex_calls[is_32bit], calls, sizeof(calls));
	}
}

static void configure(struct system_futex *s)
{
	struct futex *k = s->skeleton;

	k->rodata->threshold_ns = s->settings.threshold_ns;
	k->rodata->tells_each = s->settings.tells_each;
	k->rodata->cookie = s->settings.cookie;
	k->rodata->has_addresses = !s->settings.has_no_addresses;
	SYSTEM_THREADS_CONFIGURE(k, &s->settings.whom);
	bpf_map__set_max_entries(k->maps.scratches, N_SCRATCHES);
	configure_calls(k);
}

static int load(struct system_futex *s, struct err *e)
{
	own(system_types_fini) struct system_types types = SYSTEM_TYPES_NONE;
	LIBBPF_OPTS(bpf_object_open_opts, o);
	void *more;
	int rc;

	system_rings_silence_libbpf();
	system_types_init(&types);
	o.btf_custom_path = system_types_path(&types);
	s->skeleton = futex__open_opts(&o);
	if (!s->skeleton)
		return err_os(e, "cannot open the BPF programs");
	configure(s);
	rc = system_types_pick(&types, s->skeleton->obj, e);
	if (rc < 0)
		return rc;
	if (futex__load(s->skeleton) != 0)
		return err_os(e, "cannot load the BPF programs");
	more = mmap(NULL, MORE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		    bpf_map__fd(s->skeleton->maps.futex_more), 0);
	if (more == MAP_FAILED)
		return err_os(e, "cannot map a BPF map");
	s->more = more;
	return 0;
}

static int open_programs(struct system_futex *s, const struct system_threads_sink *sink,
			 struct err *e)
{
	struct system_threads_parts parts = SYSTEM_THREADS_PARTS(s->skeleton);

	parts.cpus = s->settings.whom.cpus;
	parts.is_end = &s->skeleton->bss->is_end;
	parts.is_last_cut = &s->skeleton->bss->is_last_cut;
	s->programs.maps = SYSTEM_CODE_MAPS(s->skeleton);
	return system_programs_open(&s->programs, &parts, sink, e);
}

int system_futex_new(const struct system_futex_settings *settings,
		     const struct system_threads_sink *sink, struct system_futex **ret,
		     struct err *e)
{
	own(system_futex_freep) struct system_futex *s = xcalloc(1, sizeof(*s));
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

void system_futex_free(struct system_futex *s)
{
	if (!s)
		return;
	system_programs_fini(&s->programs);
	if (s->more)
		munmap(s->more, MORE_BYTES);
	futex__destroy(s->skeleton);
	free(s);
}

void system_futex_freep(struct system_futex **s)
{
	system_futex_free(*s);
}

const struct system_programs *system_futex_programs(const struct system_futex *s)
{
	return &s->programs;
}

/* Returns are seen before calls are, so that none returns unseen that was seen to begin.
 */
int system_futex_start(struct system_futex *s, struct err *e)
{
	struct futex *k = s->skeleton;
	const struct system_hook hooks[] = {
		{ "executed", k->progs.executed, &k->links.executed },
		{ "began", k->progs.began, &k->links.began },
		{ "ended", k->progs.ended, &k->links.ended },
		{ "woken", k->progs.woken, &k->links.woken },
		{ "left", k->progs.left, &k->links.left },
		{ "entered", k->progs.entered, &k->links.entered },
	};
	int rc = system_hooks_attach(hooks, sizeof(hooks) / sizeof(hooks[0]), e);

	return rc < 0 ? rc : system_threads_begin(s->programs.threads, e);
}

void system_futex_take_more(struct system_futex *s, uint32_t number,
			    struct futex_record_more *ret)
{
	uint32_t slot = io_record_more_slot(number);
	struct futex_record_more *at;

	*ret = (struct futex_record_more){ 0 };
	if (slot == IO_RECORD_MORE_NONE)
		return;
	at = &s->more[slot];
	io_steps_take(ret->times, at->times, IO_RECORD_TIMES);
	ret->n_unfinished = __atomic_exchange_n(&at->n_unfinished, 0, __ATOMIC_RELAXED);
	ret->n_begun_before =
		__atomic_exchange_n(&at->n_begun_before, 0, __ATOMIC_RELAXED);
	ret->unfinished_ns = __atomic_exchange_n(&at->unfinished_ns, 0, __ATOMIC_RELAXED);
}

void system_futex_counts(const struct system_futex *s, struct system_futex_counts *ret)
{
	*ret = (struct system_futex_counts){
		.n_short = s->skeleton->bss->futex_n_short,
		.short_ns = s->skeleton->bss->futex_short_ns,
		.n_untimed = s->skeleton->bss->futex_n_untimed,
	};
}

void system_futex_stop(struct system_futex *s)
{
	futex__detach(s->skeleton);
	system_programs_stop(&s->programs, NULL, 0);
}
