/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/system_classes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/path_choice.h"
#include "base/vec.h"
#include "collect/system_exes.h"
#include "collect/tracker.h"
#include "host/cgroup_names.h"

struct class_key {
	uint64_t cgroup;
	char comm[16], thread_comm[16];
	uint32_t exe, pid, tid, zero;
};

/* What a recorder tells of, and its executable as all of them number it. */
struct owner {
	const struct stack_record *r;
	uint32_t exe;
};

/* A thread while it runs one program. */
struct known_thread {
	uint32_t id, process;
	uint32_t pid, exe;
	uint64_t time_ns; /* of the record that the names are of */
	bool is_named;	  /* for sure they are of this program */
	char comm[16], thread_comm[16];
};

/* The program that a thread ran last, of what was told so far. */
struct last_exe {
	uint64_t time_ns;
	uint32_t pid, exe;
};

struct system_classes {
	struct writer *writer;
	const struct path_choice *chosen; /* or NULL */
	struct tracker *tracker;	  /* or NULL */
	/* Of the recording. */
	struct system_exes exes;
	struct intern *keys; /* struct class_key; id - 1 is the place in ids */
	VEC(uint32_t) ids;
	struct map exe_of; /* hash of a class without it → its executable */
	/* Places in known: of a tid that runs an executable, and of its last under the
	 * executable 0. */
	struct map places;
	VEC(struct known_thread) known;
	struct map processes;	/* pid that runs an executable → its id, plus 1 */
	struct map last_places; /* tid → place in last */
	VEC(struct last_exe) last;
	/* For good. */
	struct cgroup_names *cgroups;
};

struct system_classes *system_classes_new(void)
{
	struct system_classes *c = xcalloc(1, sizeof(*c));

	c->cgroups = cgroup_names_new();
	return c;
}

void system_classes_free(struct system_classes *c)
{
	if (!c)
		return;
	system_classes_end(c);
	cgroup_names_free(c->cgroups);
	free(c);
}

void system_classes_freep(struct system_classes **c)
{
	system_classes_free(*c);
}

void system_classes_begin(struct system_classes *c, struct writer *w,
			  const struct path_choice *chosen, struct tracker *tracker)
{
	system_classes_end(c);
	c->writer = w;
	c->tracker = tracker;
	c->chosen = chosen;
	c->keys = intern_new();
}

void system_classes_end(struct system_classes *c)
{
	intern_free(c->keys);
	vec_fini(&c->ids);
	map_fini(&c->exe_of);
	system_exes_fini(&c->exes);
	map_fini(&c->places);
	vec_fini(&c->known);
	map_fini(&c->processes);
	map_fini(&c->last_places);
	vec_fini(&c->last);
	c->keys = NULL;
}

static uint32_t name_of(struct system_classes *c, const char comm[16])
{
	return writer_strn(c->writer, comm, strnlen(comm, 16));
}

static uint32_t exe_name(struct system_classes *c, uint32_t exe)
{
	return writer_string(c->writer, system_exes_path(&c->exes, exe));
}

static uint32_t add_process(struct system_classes *c, const struct stack_record *r,
			    uint32_t pid, uint32_t exe)
{
	struct model_process process = {
		.pid = pid,
		.parent = MODEL_NONE,
		.exec_of = MODEL_NONE,
		.comm = name_of(c, r->comm),
		.exe = exe_name(c, exe),
		.cgroup =
			writer_string(c->writer, cgroup_names_find(c->cgroups, r->cgroup,
								   (pid_t)r->pid)),
		.exit_status = -1,
	};

	return writer_process(c->writer, &process);
}

static uint32_t add_class(struct system_classes *c, const struct stack_record *r,
			  const struct class_key *k)
{
	struct model_thread thread = { .process = add_process(c, r, k->pid, k->exe),
				       .tid = k->tid,
				       .name = name_of(c, k->thread_comm) };

	return writer_thread(c->writer, &thread);
}

/* Is some frame the address of code that no file explains? */
static bool has_address(const struct stack_record *r)
{
	for (uint32_t i = 0; i < r->n_user; i++)
		if (r->frames[r->n_kernel + i] >> STACK_RECORD_IMAGE_SHIFT >=
		    STACK_RECORD_ADDRESS)
			return true;
	return false;
}

static struct owner owner_of(struct system_classes *c,
			     const struct system_classes_teller *teller,
			     const struct stack_record *r)
{
	return (struct owner){ r, system_exes_number(&c->exes, teller->images, r->exe) };
}

static struct class_key class_of(const struct owner *o)
{
	const struct stack_record *r = o->r;
	struct class_key k = { .cgroup = r->cgroup, .exe = o->exe };

	memcpy(k.comm, r->comm, sizeof(k.comm));
	if (r->flags & STACK_RECORD_IS_THREAD) {
		memcpy(k.thread_comm, r->thread_comm, sizeof(k.thread_comm));
		k.tid = r->tid;
	}
	if (r->flags & STACK_RECORD_IS_PROCESS || has_address(r))
		k.pid = r->pid;
	return k;
}

static struct class_key of_any_pid(struct class_key k)
{
	k.pid = 0;
	return k;
}

/* Where the executable of those that are the same otherwise is remembered. */
static uint64_t *known_exe(struct system_classes *c, struct class_key k)
{
	k.exe = 0;
	return map_slot(&c->exe_of, hash_bytes(&k, sizeof(k)), NULL);
}

static void learn_class(struct system_classes *c, const struct owner *o)
{
	struct class_key k = class_of(o);

	if (!k.exe || o->r->flags & STACK_RECORD_IS_EXEC)
		return;
	*known_exe(c, k) = k.exe;
	if (c->chosen)
		*known_exe(c, of_any_pid(k)) = k.exe;
}

static void learn_thread(struct system_classes *c, const struct owner *o)
{
	uint64_t *place;
	struct last_exe *last;

	if (!o->exe)
		return;
	place = map_slot(&c->last_places, o->r->tid, NULL);
	if (!*place) {
		vec_push(&c->last);
		*place = c->last.n;
	}
	last = &c->last.at[*place - 1];
	if (o->r->time_ns >= last->time_ns)
		*last = (struct last_exe){ o->r->time_ns, o->r->pid, o->exe };
}

/* One that ends has given its executable away with its memory: it is that of the last
 * program, which may be told of behind its end. */
static struct owner thread_of(struct system_classes *c,
			      const struct system_classes_teller *teller,
			      const struct stack_record *r)
{
	struct owner o = owner_of(c, teller, r);
	const uint64_t *place = o.exe ? NULL : map_find(&c->last_places, r->tid);

	if (place && c->last.at[*place - 1].pid == r->pid)
		o.exe = c->last.at[*place - 1].exe;
	return o;
}

void system_classes_learn(struct system_classes *c,
			  const struct system_classes_teller *teller,
			  const struct stack_record *r)
{
	struct owner o = owner_of(c, teller, r);

	if (teller->is_by_thread)
		learn_thread(c, &o);
	else
		learn_class(c, &o);
}

/* A process that exits has no executable any more, and one that execs may have one that
 * its name is not of: it is the one it had, or that others of its name have. */
static uint32_t exe_of(struct system_classes *c, const struct stack_record *r,
		       struct class_key k)
{
	uint32_t known;

	if (k.exe && !(r->flags & STACK_RECORD_IS_EXEC))
		return k.exe;
	known = (uint32_t)*known_exe(c, k);
	if (!known && c->chosen)
		known = (uint32_t)*known_exe(c, of_any_pid(k));
	return known ? known : k.exe;
}

/* The kernel's side tells some apart that are not to be. */
static bool is_one_of_many(const struct system_classes *c, const struct stack_record *r,
			   uint32_t exe)
{
	return c->chosen && !has_address(r) &&
	       !path_choice_has(c->chosen, system_exes_path(&c->exes, exe));
}

static uint32_t class_id(struct system_classes *c,
			 const struct system_classes_teller *teller,
			 const struct stack_record *r)
{
	struct owner o = owner_of(c, teller, r);
	struct class_key k = class_of(&o);
	uint32_t id;

	k.exe = exe_of(c, r, k);
	if (is_one_of_many(c, r, k.exe))
		k = of_any_pid(k);
	id = intern_add(c->keys, (const char *)&k, sizeof(k));
	if (id > c->ids.n)
		*vec_push(&c->ids) = add_class(c, r, &k);
	return c->ids.at[id - 1];
}

static uint64_t *place_of(struct system_classes *c, uint32_t tid, uint32_t exe)
{
	return map_slot(&c->places, (uint64_t)tid << 32 | exe, NULL);
}

/* One that ends has given its memory away, and has no executable any more: it is the last
 * of that number.  What is met first may be its end. */
static struct known_thread *find_thread(struct system_classes *c, uint32_t tid,
					const struct owner *o)
{
	uint64_t place = *place_of(c, tid, o->exe);
	uint64_t last = *place_of(c, tid, 0);
	struct known_thread *k = place || !last ? NULL : &c->known.at[last - 1];

	if (place)
		k = &c->known.at[place - 1];
	else if (k && o->exe && k->exe)
		k = NULL;
	return k && k->pid == o->r->pid ? k : NULL;
}

/* Its threads share it; the first of them may have nothing to tell. */
static uint32_t process_of(struct system_classes *c, const struct owner *o)
{
	const struct known_thread *leader = find_thread(c, o->r->pid, o);
	uint64_t *id;

	if (leader)
		return leader->process;
	id = map_slot(&c->processes, (uint64_t)o->r->pid << 32 | o->exe, NULL);
	if (!*id)
		*id = add_process(c, o->r, o->r->pid, o->exe) + UINT64_C(1);
	return (uint32_t)(*id - 1);
}

static void rename_thread(struct system_classes *c, struct known_thread *k,
			  const struct stack_record *r)
{
	struct model_thread t = *writer_thread_get(c->writer, k->id);

	memcpy(k->thread_comm, r->thread_comm, sizeof(k->thread_comm));
	t.name = name_of(c, k->thread_comm);
	writer_thread_update(c->writer, k->id, &t);
}

static void rename_process(struct system_classes *c, const struct known_thread *k)
{
	struct model_process p = *writer_process_get(c->writer, k->process);

	p.comm = name_of(c, k->comm);
	p.exe = exe_name(c, k->exe);
	writer_process_update(c->writer, k->process, &p);
}

static bool is_name_of_program(const struct stack_record *r)
{
	return r->exe && !(r->flags & STACK_RECORD_IS_EXEC);
}

/* CPUs tell of it in any order: the names are the last, the executable is any.  The end
 * may be that of a program that nobody has told of yet, and does not name this one. */
static void know_better(struct system_classes *c, struct known_thread *k,
			const struct owner *o)
{
	const struct stack_record *r = o->r;
	bool is_later = r->time_ns > k->time_ns && (r->exe || !k->is_named);
	bool is_other = !k->exe && o->exe;

	if (is_other) {
		k->exe = o->exe;
		*place_of(c, r->tid, o->exe) = *place_of(c, r->tid, 0);
	}
	if (is_later) {
		k->time_ns = r->time_ns;
		k->is_named |= is_name_of_program(r);
		if (memcmp(k->thread_comm, r->thread_comm, sizeof(k->thread_comm)) != 0)
			rename_thread(c, k, r);
		is_other |= memcmp(k->comm, r->comm, sizeof(k->comm)) != 0;
		memcpy(k->comm, r->comm, sizeof(k->comm));
	}
	if (is_other)
		rename_process(c, k);
}

static uint32_t add_thread(struct system_classes *c, const struct owner *o)
{
	const struct stack_record *r = o->r;
	struct known_thread k = { .process = process_of(c, o),
				  .pid = r->pid,
				  .exe = o->exe,
				  .time_ns = r->time_ns,
				  .is_named = is_name_of_program(r) };
	struct model_thread t = { .process = k.process,
				  .tid = r->tid,
				  .name = name_of(c, r->thread_comm) };

	memcpy(k.comm, r->comm, sizeof(k.comm));
	memcpy(k.thread_comm, r->thread_comm, sizeof(k.thread_comm));
	k.id = writer_thread(c->writer, &t);
	*vec_push(&c->known) = k;
	*place_of(c, r->tid, o->exe) = *place_of(c, r->tid, 0) = c->known.n;
	return k.id;
}

/* As others know it. */
static bool is_told(struct system_classes *c, const struct stack_record *r, uint32_t *ret)
{
	char comm[sizeof(r->comm) + 1] = "";

	if (!c->tracker)
		return false;
	memcpy(comm, r->comm, sizeof(r->comm));
	return tracker_thread_then(c->tracker, r->time_ns, r->pid, r->tid, comm, ret);
}

bool system_classes_is_early(struct system_classes *c,
			     const struct system_classes_teller *teller,
			     const struct stack_record *r)
{
	struct owner o = thread_of(c, teller, r);
	uint32_t told;

	return c->tracker && teller->is_by_thread && !find_thread(c, r->tid, &o) &&
	       !is_told(c, r, &told);
}

static uint32_t thread_id(struct system_classes *c,
			  const struct system_classes_teller *teller,
			  const struct stack_record *r)
{
	struct owner o = thread_of(c, teller, r);
	struct known_thread *k = find_thread(c, r->tid, &o);
	uint32_t told;

	if (!k && is_told(c, r, &told))
		return told;
	if (!k)
		return add_thread(c, &o);
	know_better(c, k, &o);
	return k->id;
}

uint32_t system_classes_id(struct system_classes *c,
			   const struct system_classes_teller *teller,
			   const struct stack_record *r)
{
	return teller->is_by_thread ? thread_id(c, teller, r) : class_id(c, teller, r);
}
