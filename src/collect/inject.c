/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "collect/inject_calls.h"
#include "collect/inject_cancel.h"
#include "collect/inject_copies.h"
#include "collect/inject_fpe.h"
#include "collect/inject_library.h"
#include "collect/inject_linker.h"
#include "collect/inject_place.h"
#include "collect/inject_status.h"
#include "collect/inject_stop.h"
#include "collect/inject_tables.h"
#include "collect/inject_tries.h"
#include "collect/inject_ways.h"
#include "host/clock.h"
#include "host/proc_maps.h"
#include "host/procfs.h"
#include "wire/tracer.h"
#include "wire/tracer_library.h"

const char *const inject_why_not = NULL;

#define MAPS_MAX (UINT64_C(64) << 20)
#define LOOK_NS	 UINT64_C(20000000)
/* The recorder does nothing else meanwhile: so long at most, and for such a part of the
 * time. */
#define LOOK_STOP_NS UINT64_C(20000000)
#define LOOK_PART    16
/* By one thread, when nobody is led there any more. */
#define WITHDRAW_NS UINT64_C(5000000000)
#define FIXED	    (MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE)

_Static_assert(INJECT_TRIES_MAX / 2 >= INJECT_PLACE_N, "every place is tried");

struct inject {
	pid_t pid;
	int fd; /* /proc/PID/mem */
	struct inject_memory memory;
	uint64_t debug, site;
	uint32_t traces;
	struct inject_calls calls;
	struct inject_ways ways;
	struct inject_fpe fpe;
	struct inject_place place;
	struct inject_library library;
	struct wire_injected head;
	bool is_put;	/* and nobody is led there yet */
	bool is_within; /* somebody is, in what was put there before */
	bool is_armed;	/* exceptions are unmasked in it still */
	bool is_back;	/* its calls are led no more */
	bool is_busy;	/* all of its threads want a CPU */
	struct inject_tries tries;
	uint64_t look_ns, stood_ns;
};

static bool read_memory(const struct inject *i, uint64_t at, void *to, size_t bytes)
{
	return inject_memory_read(&i->memory, at, to, bytes);
}

static bool write_memory(void *ctx, uint64_t at, const void *from, size_t bytes)
{
	const struct inject *i = ctx;

	return pwrite(i->fd, from, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool write_slot(void *ctx, uint64_t at, uint64_t value)
{
	return write_memory(ctx, at, &value, sizeof(value));
}

void inject_free(struct inject *i)
{
	if (!i)
		return;
	closep(&i->fd);
	inject_ways_fini(&i->ways);
	inject_fpe_fini(&i->fpe);
	inject_library_fini(&i->library);
	free(i);
}

static void inject_freep(struct inject **i)
{
	inject_free(*i);
}

static int read_maps(const struct inject *i, struct buf *ret, struct err *e)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)i->pid);
	buf_clear(ret);
	return procfs_read(path, MAPS_MAX, ret, e);
}

/* Looking. */

static uint64_t resolve(void *ctx, const char *name)
{
	const struct inject *i = ctx;

	vec_each(o, &i->ways.objects.at) {
		struct inject_tables t;
		uint64_t found = inject_tables_open(&i->memory, o, &t)
					 ? inject_tables_find(&t, name)
					 : 0;

		if (found)
			return found;
	}
	return 0;
}

static int check_objects(const struct inject *i, struct err *e)
{
	vec_each(o, &i->ways.objects.at)
		if (strstr(o->name, "/libdwell-tracer.so") ||
		    strstr(o->name, "/libdwell-marks.so"))
			return err_set(e, ERR_UNSUPPORTED,
				       "it was started by 'dwell run', and is traced");
	if (!resolve((void *)(uintptr_t)i, "_dl_find_object"))
		return err_set(e, ERR_UNSUPPORTED,
			       "its C library does not tell where code is: that is glibc "
			       "2.35 or later");
	return 0;
}

static int look(struct inject *i, struct err *e)
{
	int rc = inject_linker_find(i->pid, &i->memory, &i->debug, e);

	if (rc == 0)
		rc = inject_objects_read(&i->memory, i->debug, &i->ways.objects, e);
	if (rc == 0)
		rc = check_objects(i, e);
	if (rc == 0)
		rc = inject_cancel_check(&i->memory, &i->ways.objects, i->traces, e);
	if (rc == 0)
		inject_calls_find(&i->calls, &i->memory, &i->ways.objects);
	return rc;
}

/* Putting it in. */

static uint64_t library_at(const struct inject *i)
{
	return i->place.at + INJECT_PLACE_HEAD;
}

static uint64_t stack_top(const struct inject *i)
{
	return library_at(i) + i->library.bytes + INJECT_PLACE_STACK;
}

/* Who is in the library stands in its code, or is to return to it; what lies before and
 * behind may look like anything. */
static bool somebody_is_within(const struct inject *i, const struct inject_stop *s)
{
	uint64_t code = library_at(i);

	return inject_stop_is_within(s, code, code + i->library.code_bytes);
}

static uint64_t checksum(void)
{
	return (uint64_t)tracer_injected_size << 32 |
	       crc32c(0, tracer_injected, tracer_injected_size);
}

static void find_wrappers(struct inject *i)
{
	for (unsigned k = 0; k < INJECT_N_CALLS; k++)
		i->calls.wrapper[k] =
			inject_calls_is_wanted(k, i->traces) && i->calls.of[k].address
				? inject_library_find(&i->library, i->calls.of[k].name)
				: 0;
}

static int make_library(struct inject *i, struct err *e)
{
	int rc;

	inject_library_fini(&i->library);
	rc = inject_library_make(tracer_injected, tracer_injected_size, library_at(i),
				 resolve, i, &i->library, e);
	if (rc == 0)
		find_wrappers(i);
	return rc;
}

static int choose_place(struct inject *i, uint64_t from, struct err *e)
{
	own(buf_fini) struct buf maps = { 0 };
	int rc = read_maps(i, &maps, e);

	if (rc == 0)
		rc = inject_stop_site(&i->memory, (const char *)maps.data, maps.size,
				      &i->site, e);
	if (rc == 0)
		rc = inject_place_choose(&i->memory, from, (const char *)maps.data,
					 maps.size, checksum(), &i->place, e);
	if (rc == 0)
		rc = make_library(i, e);
	return rc;
}

static int map_place(struct inject *i, struct inject_stop *s, struct err *e)
{
	uint64_t bytes = stack_top(i) - i->place.at;
	long p;

	if (i->place.is_mapped)
		return 0;
	p = inject_stop_call(s, i->site, SYS_mmap, i->place.at, bytes,
			     PROT_READ | PROT_WRITE, FIXED);
	if (p == (long)i->place.at)
		return 0;
	errno = p < 0 ? (int)-p : EEXIST;
	return err_os(e, "it cannot have memory for the library");
}

/* Zeroes as the kernel makes them: most of what it has is never touched. */
static int put_library(struct inject *i, struct inject_stop *s, struct err *e)
{
	const struct inject_library *l = &i->library;
	uint64_t at = library_at(i);

	if (i->place.is_mapped &&
	    inject_stop_call(s, i->site, SYS_madvise, at + l->code_bytes,
			     l->bytes - l->code_bytes, MADV_DONTNEED, 0) < 0)
		return err_set(e, ERR_UNSUPPORTED, "it may not give memory back");
	if (!write_memory(i, at, l->image, l->file_bytes))
		return err_os(e, "cannot write to its memory");
	if (!i->place.is_mapped &&
	    inject_stop_call(s, i->site, SYS_mprotect, at, l->code_bytes,
			     PROT_READ | PROT_EXEC, 0) < 0)
		return err_set(e, ERR_UNSUPPORTED,
			       "it may not have new code in its memory");
	return 0;
}

static bool put_calls(struct inject *i)
{
	return write_memory(i, i->place.at + sizeof(i->head), i->calls.of,
			    sizeof(i->calls.of));
}

static bool put_head(struct inject *i)
{
	i->head.state = WIRE_INJECTED_NEW;
	return write_memory(i, i->place.at, &i->head, sizeof(i->head)) && put_calls(i);
}

_Static_assert(sizeof(struct wire_injected) + sizeof(((struct inject_calls *)0)->of) <=
		       INJECT_PLACE_HEAD,
	       "there is room");

/* A thread of the process runs an entry of the library; what came of it. */
static int run_entry(struct inject *i, struct inject_stop *s, const char *name,
		     struct wire_injected *ret_told, struct err *e)
{
	uint64_t entry = inject_library_find(&i->library, name);

	if (!put_head(i) ||
	    !inject_stop_run(s, entry, i->place.at, stack_top(i),
			     i->place.at + offsetof(struct wire_injected, state)) ||
	    !read_memory(i, i->place.at, ret_told, sizeof(*ret_told)))
		return err_set(e, ERR_OS, "it has ended");
	return 0;
}

static int run_begin(struct inject *i, struct inject_stop *s, struct err *e)
{
	struct wire_injected told = { 0 };
	int rc = run_entry(i, s, WIRE_INJECTED_BEGIN, &told, e);

	i->head.hooks_at = told.hooks_at;
	i->head.switch_at = told.switch_at;
	return rc < 0 || told.state == WIRE_INJECTED_READY
		       ? rc
		       : err_set(e, ERR_UNSUPPORTED,
				 "it cannot open '%s', where it was to meet us",
				 i->head.directory);
}

static int run_end(struct inject *i, struct inject_stop *s, struct err *e)
{
	struct wire_injected told = { 0 };
	int rc = run_entry(i, s, WIRE_INJECTED_END, &told, e);

	return rc < 0 || told.state == WIRE_INJECTED_OVER
		       ? rc
		       : err_set(e, ERR_UNSUPPORTED, "it does not give it back");
}

static int run_for_fpe(void *ctx, struct inject_stop *s, const char *entry,
		       uint64_t *ret_state, struct err *e)
{
	struct wire_injected told = { 0 };
	int rc = run_entry(ctx, s, entry, &told, e);

	*ret_state = told.state;
	((struct inject *)ctx)->head.left = told.left;
	return rc;
}

typedef int fpe_fn(struct inject_fpe *f, const struct inject_fpe_library *l,
		   struct inject_stop *s, struct err *e);

static int do_fpe(struct inject *i, fpe_fn *fn, struct inject_stop *s, struct err *e)
{
	int rc = inject_stop_take(s, &i->head.tid_at, e);
	const struct inject_fpe_library l = {
		.memory = i->memory,
		.write = write_memory,
		.run = run_for_fpe,
		.ctx = i,
		.at = inject_library_find(&i->library, WIRE_INJECTED_FPE),
		.tid_at = i->head.tid_at,
	};

	return rc < 0 ? rc : fn(&i->fpe, &l, s, e);
}

static void set_patched(struct inject *i, bool is_patched)
{
	i->head.is_patched = is_patched;
	write_memory(i, i->place.at + offsetof(struct wire_injected, is_patched),
		     &i->head.is_patched, sizeof(i->head.is_patched));
}

static size_t patch(struct inject *i, bool is_for_real)
{
	return inject_ways_lead(&i->ways, &i->calls, &i->memory, i->head.hooks_at,
				is_for_real ? write_slot : NULL, i);
}

/* What was there before gives back what it has mapped, as its data is to be forgotten:
 * nobody is within. */
static int end_former(struct inject *i, struct inject_stop *s, struct err *e)
{
	struct wire_injected former = { 0 };
	int rc;

	if (!i->place.is_mapped)
		return 0;
	if (!read_memory(i, i->place.at, &former, sizeof(former)))
		return err_os(e, "cannot read its memory");
	i->head.left = former.left;
	rc = do_fpe(i, inject_fpe_disarm, s, e);
	i->head.is_empty = true;
	if (rc == 0)
		rc = run_end(i, s, e);
	i->head.is_empty = false;
	return rc;
}

/* ERR_LIMIT: not now. */
static int put_in(struct inject *i, struct inject_stop *s, struct err *e)
{
	int rc = inject_status_check_threads(i->pid, e);

	if (rc == 0)
		rc = inject_stop_take(s, &i->head.tid_at, e);
	if (rc == 0)
		rc = end_former(i, s, e);
	if (rc == 0)
		rc = map_place(i, s, e);
	if (rc == 0)
		rc = put_library(i, s, e);
	if (rc == 0)
		rc = run_begin(i, s, e);
	i->is_put = rc == 0;
	return rc;
}

static int check_settled(const struct inject *i, struct err *e)
{
	return inject_ways_check(&i->ways, &i->memory, i->debug, e);
}

/* Pointers that were kept may lead into a library that is there already: nobody may be
 * about to follow one when it is begun again. */
static int put_in_again(struct inject *i, struct inject_stop *s, struct err *e)
{
	i->is_within = i->place.is_mapped && somebody_is_within(i, s);
	if (i->is_within)
		return err_set(e, ERR_LIMIT,
			       "threads of it are still in what was put into it before");
	return put_in(i, s, e);
}

static int lead(struct inject *i, struct inject_stop *s, struct err *e)
{
	int rc = check_settled(i, e);

	if (rc == 0 && i->traces & WIRE_TRACER_FPE)
		rc = inject_fpe_lead_out(&i->fpe, i->pid, s, e);
	if (rc < 0)
		return rc;
	/* Meanwhile it may have forbidden itself calls; ours are not told of it yet. */
	rc = i->is_put ? inject_status_check_threads(i->pid, e) : put_in_again(i, s, e);
	if (rc == 0 && i->traces & WIRE_TRACER_FPE)
		rc = do_fpe(i, inject_fpe_arm, s, e);
	if (rc < 0)
		return rc;
	set_patched(i, true);
	patch(i, true);
	return 0;
}

typedef int step_fn(struct inject *i, struct inject_stop *s, struct err *e);

typedef struct inject_stop *stop_fn(pid_t pid, uint64_t limit_ns, struct err *e);

/* ERR_LIMIT also: a thread has not had a CPU yet to stop on. */
static int do_while_standing(struct inject *i, step_fn *step, stop_fn *stop,
			     struct err *e)
{
	uint64_t since_ns = clock_monotonic_ns();
	struct err why = { 0 };
	struct inject_stop *s = stop(i->pid, inject_tries_stop_ns(&i->tries), &why);
	int rc;

	if (!s) {
		i->stood_ns += clock_monotonic_ns() - since_ns;
		if (e)
			*e = why;
		return why.code;
	}
	rc = step(i, s, e);
	i->stood_ns += inject_stop_end(s);
	return rc;
}

static bool has_threads(pid_t pid)
{
	own(procfs_ids_fini) struct procfs_ids tids = { 0 };

	return procfs_tasks(pid, &tids, NULL) == 0 && tids.ids.n > 1;
}

/* Where there is only one thread, it stands once for both: to stop may be a turn of all
 * that wait for a CPU, and so is each call that is made for us while the others go on.
 * Where all want a CPU they stand for both, too. */
static int begin_in(struct inject *i, struct err *e)
{
	int rc = 0;

	if (!i->is_put && !i->place.is_mapped && has_threads(i->pid) &&
	    inject_stop_may_be_soon(i->pid))
		rc = do_while_standing(i, put_in, inject_stop_begin_one, e);
	if (rc == 0)
		rc = do_while_standing(i, lead, inject_stop_begin, e);
	return rc;
}

static int end_it(struct inject *i, struct inject_stop *s, struct err *e)
{
	int rc;

	if (inject_status_check_threads(i->pid, NULL) < 0)
		return 0; /* what it has stays */
	rc = inject_stop_take(s, &i->head.tid_at, e);
	return rc < 0 ? rc : run_end(i, s, e);
}

/* When nobody is led there any more. */
static int withdraw(struct inject *i, bool is_empty, struct err *e)
{
	uint64_t until_ns = clock_monotonic_ns() + WITHDRAW_NS;
	int rc = ERR_LIMIT;

	i->head.is_empty = is_empty;
	i->tries.n = 0;
	if (i->tries.until_ns < until_ns)
		i->tries.until_ns = until_ns;
	while (rc == ERR_LIMIT && inject_tries_next(&i->tries))
		rc = do_while_standing(i, end_it, inject_stop_begin_one, e);
	set_patched(i, false);
	return rc;
}

/* By which the process' objects reach others. */
static int find_ways(struct inject *i, struct err *e)
{
	own(buf_fini) struct buf maps = { 0 };
	int rc = read_maps(i, &maps, e);

	if (rc < 0)
		return rc;
	inject_ways_find(&i->ways, &i->calls, &i->memory, (const char *)maps.data,
			 maps.size);
	inject_fpe_find(&i->fpe, i->calls.of[INJECT_CALL_feholdexcept].address,
			(const char *)maps.data, maps.size);
	return 0;
}

/* What is in the way is given some time; then the next place is taken in which nobody is,
 * if there is one. */
static int try_to_begin(struct inject *i, uint64_t until_ns, struct err *e)
{
	uint64_t from = INJECT_PLACE_FIRST;
	int rc = ERR_LIMIT;

	i->tries = inject_tries_until(until_ns);
	while (rc == ERR_LIMIT && inject_tries_next(&i->tries)) {
		if (i->tries.n > INJECT_TRIES_MAX / 2 && i->is_within)
			from = i->place.at + INJECT_PLACE_STRIDE;
		rc = look(i, e);
		if (rc == 0 && !i->is_put)
			rc = choose_place(i, from, e);
		if (rc == 0)
			rc = find_ways(i, e);
		if (rc == 0)
			rc = begin_in(i, e);
	}
	rc = inject_tries_give_up(&i->tries, rc, e);
	if (rc < 0 && i->is_put)
		withdraw(i, true, NULL);
	return rc;
}

static int prepare(struct inject *i, const char *directory, struct err *e)
{
	struct procfs_stat own_stat = { 0 };
	int rc = inject_status_check(i->pid, e);

	if (rc == 0)
		rc = inject_status_check_directory(i->pid, directory, e);
	if (rc == 0)
		rc = procfs_stat(getpid(), &own_stat, e);
	if (rc == 0)
		rc = inject_memory_open(i->pid, O_RDWR, &i->fd, &i->memory, e);
	i->head = (struct wire_injected){ .magic = WIRE_INJECTED_MAGIC,
					  .library = checksum(),
					  .owner_pid = (uint32_t)getpid(),
					  .owner_start = own_stat.start_ns,
					  .first_pid = (uint64_t)i->pid,
					  .n_calls = INJECT_N_CALLS };
	snprintf(i->head.directory, sizeof(i->head.directory), "%s", directory);
	return rc;
}

int inject_begin(pid_t pid, const char *directory, uint32_t traces, uint64_t until_ns,
		 struct inject **ret, struct err *e)
{
	own(inject_freep) struct inject *i = xcalloc(1, sizeof(*i));
	char where[64];
	int rc;

	i->pid = pid;
	i->traces = traces;
	i->fd = -1;
	rc = prepare(i, directory, e);
	if (rc == 0)
		rc = try_to_begin(i, until_ns, e);
	snprintf(where, sizeof(where), "cannot trace process %d", (int)pid);
	if (rc < 0)
		return err_in(e, rc, where);
	*ret = steal(&i);
	return 0;
}

/* What comes later. */

/* Put there by us, or a copy of that, and not of a program that it has executed since. */
static bool has_ours(const struct inject *i, struct wire_injected *ret)
{
	return read_memory(i, i->place.at, ret, sizeof(*ret)) &&
	       inject_copies_is_of(&i->head, ret) && ret->first_pid == i->head.first_pid;
}

/* And its calls come by. */
static bool is_ours(const struct inject *i)
{
	struct wire_injected head;

	return has_ours(i, &head) && head.is_patched;
}

static bool renew_ways(struct inject *i)
{
	if (!inject_ways_renew(&i->ways, &i->calls, &i->memory, i->debug))
		return false;
	find_wrappers(i);
	find_ways(i, NULL);
	return true;
}

/* If it does not stand now, it is looked at later. */
static void lead_more(struct inject *i)
{
	uint64_t since_ns = clock_monotonic_ns(), ns;
	struct inject_stop *s = inject_stop_begin(i->pid, LOOK_STOP_NS, NULL);

	if (s && is_ours(i) && check_settled(i, NULL) == 0 && put_calls(i))
		patch(i, true);
	inject_stop_end(s);
	ns = clock_monotonic_ns() - since_ns;
	i->stood_ns += ns;
	if (!s)
		i->look_ns = since_ns + LOOK_PART * ns;
}

int inject_look(struct inject *i, struct err *e)
{
	uint64_t now_ns = clock_monotonic_ns();
	int rc = 0;

	if (now_ns < i->look_ns)
		return 0;
	i->look_ns = now_ns + LOOK_NS;
	if (!is_ours(i))
		return 0;
	if (renew_ways(i))
		rc = inject_cancel_check(&i->memory, &i->ways.objects, i->traces, e);
	if (rc == 0 && patch(i, false))
		lead_more(i);
	return rc;
}

/* Taking it out. */

static bool switch_off(struct inject *i)
{
	const uint64_t zero = 0;

	return read_memory(i, i->place.at, &i->head, sizeof(i->head)) &&
	       write_memory(i, i->head.switch_at, &zero, sizeof(zero));
}

/* One that has forbidden itself system calls meanwhile: it would be killed by ours.
 * Where exceptions are unmasked it goes on being led: what takes their signal stays, and
 * that may not come to be blocked. */
static int leave_alone(struct inject *i, struct err *e)
{
	if (!switch_off(i))
		return err_os(e, "cannot write to its memory");
	set_patched(i, false);
	return 0;
}

/* Calls are led as long as exceptions are unmasked.  ERR_LIMIT: not now. */
static int disarm(struct inject *i, struct inject_stop *s, struct err *e)
{
	int rc = 0;

	if (i->traces & WIRE_TRACER_FPE)
		rc = inject_fpe_lead_out(&i->fpe, i->pid, s, e);
	if (rc == 0 && i->traces & WIRE_TRACER_FPE)
		rc = do_fpe(i, inject_fpe_disarm, s, e);
	i->is_armed = rc == ERR_LIMIT;
	return rc;
}

/* Of a process that has been given the library, or a child with a copy.  ERR_LIMIT: a
 * thread is within. */
static int lead_back(struct inject *i, struct inject_stop *s, struct err *e)
{
	bool is_forbidden = inject_status_check_threads(i->pid, NULL) < 0;
	int rc;

	if (!is_ours(i))
		return 0;
	if (is_forbidden && i->traces & WIRE_TRACER_FPE)
		return leave_alone(i, e);
	rc = is_forbidden ? 0 : disarm(i, s, e);
	if (rc == 0)
		rc = inject_ways_lead_back(&i->ways, &i->calls, &i->memory, i->debug,
					   write_slot, i, e);
	if (rc < 0)
		return rc;
	i->is_back = true;
	if (is_forbidden)
		return leave_alone(i, e);
	if (!switch_off(i))
		return err_os(e, "cannot write to its memory");
	if (somebody_is_within(i, s))
		return err_set(e, ERR_LIMIT, "threads of it are within");
	/* If not now, it stands once more. */
	i->head.is_empty = true;
	if ((inject_stop_n(s) == 1 || i->is_busy) && end_it(i, s, NULL) == 0)
		set_patched(i, false);
	return 0;
}

/* It goes on meanwhile; forked while some were being loaded they are never settled. */
static int find_ways_of_copy(struct inject *copy, struct err *e)
{
	int rc = ERR_FORMAT;

	while ((rc < 0 || !copy->ways.objects.is_settled) &&
	       inject_tries_next(&copy->tries))
		rc = inject_objects_read(&copy->memory, copy->debug, &copy->ways.objects,
					 e);
	return rc < 0 ? rc : find_ways(copy, e);
}

static int take_out_of(struct inject *i, pid_t pid, uint64_t until_ns, struct err *e)
{
	const char *what = "goes on with its calls led through ours";
	struct inject child = *i;
	bool is_copy = pid != i->pid;
	struct wire_injected head;
	char where[128];
	int rc;

	child.pid = pid;
	if (is_copy)
		inject_ways_copy(&i->ways, &child.ways);
	child.tries = inject_tries_until(until_ns);
	rc = inject_memory_open(pid, O_RDWR, &child.fd, &child.memory, e);
	if (rc == 0 && is_copy)
		rc = find_ways_of_copy(&child, e);
	if (rc == 0)
		rc = ERR_LIMIT;
	child.tries.n = 0;
	while (rc == ERR_LIMIT && is_ours(&child) && inject_tries_next(&child.tries)) {
		if (!is_copy)
			renew_ways(&child);
		child.is_busy = !inject_stop_may_be_soon(pid);
		rc = do_while_standing(&child, lead_back, inject_stop_begin, e);
	}
	if (rc == ERR_LIMIT && child.is_armed && is_ours(&child)) {
		what = "goes on with exceptions hidden from it, and its calls led "
		       "through "
		       "ours";
		if (withdraw(&child, false, NULL) < 0)
			switch_off(&child);
	} else if (rc == ERR_LIMIT && !child.is_back && is_ours(&child)) {
		/* Nobody is in the way of that. */
		switch_off(&child);
		what = "goes on with its calls led through ours, which pass them on";
	} else if (child.is_back && (rc == 0 || rc == ERR_LIMIT) && is_ours(&child)) {
		what = "keeps memory of ours, which nothing leads to";
		rc = withdraw(&child, rc == 0, e);
	}
	if (rc < 0 && child.fd >= 0 && !has_ours(&child, &head)) /* it has ended */
		rc = 0;
	closep(&child.fd);
	if (is_copy) {
		inject_ways_fini(&child.ways);
	} else {
		i->ways = child.ways;
		i->stood_ns = child.stood_ns;
	}
	if (rc == 0 || procfs_has_ended(pid))
		return 0;
	snprintf(where, sizeof(where), "process %d %s", (int)pid, what);
	return err_in(e, inject_tries_give_up(&child.tries, rc, e), where);
}

int inject_leave(struct inject *i, uint64_t until_ns, uint64_t *stood_ns, struct err *e)
{
	int rc = take_out_of(i, i->pid, until_ns, e);

	*stood_ns += i->stood_ns;
	i->stood_ns = 0;
	return rc;
}

int inject_leave_copy(const struct inject *i, pid_t pid, uint64_t until_ns, struct err *e)
{
	struct inject first = *i;

	return take_out_of(&first, pid, until_ns, e);
}

const struct wire_injected *inject_head(const struct inject *i)
{
	return &i->head;
}

bool inject_is_first_of(const struct inject *i, const struct inject_copy *copy)
{
	return copy->first_pid == (uint64_t)i->pid && copy->pid != i->pid &&
	       copy->at == i->place.at;
}
