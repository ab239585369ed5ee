/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_descriptors.h"

#include <linux/close_range.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "bare/sys.h"
#include "inject/trace_runtime.h"
#include "inject/vdso.h"

#define KNOWN_NS   1000000
#define KNOWN_BITS 12

/* Of those descriptors whose numbers end alike the one that was asked for last. */
struct known {
	uint64_t changes;
	uint64_t file;
	uint64_t asked; /* when, and in the lowest bit whether the file may block */
	uint64_t seal;	/* over all that this is true of */
};

static struct known known[1 << KNOWN_BITS];
static uint64_t all_changes;
static bool is_stopped;

static struct known *place_of(int fd)
{
	return &known[(unsigned)fd & ((1u << KNOWN_BITS) - 1)];
}

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void store(uint64_t *word, uint64_t v)
{
	__atomic_store_n(word, v, __ATOMIC_RELAXED);
}

static void add_one(uint64_t *word)
{
	__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
}

static uint64_t mix(uint64_t hash, uint64_t v)
{
	hash = (hash ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* Files are told to one recorder's ring: a forked child's is another. */
static uint64_t seal(const struct trace_descriptor *d, uint64_t file, uint64_t asked)
{
	uint64_t hash = mix((unsigned)d->fd, d->changes);

	hash = mix(hash, trace_runtime.epoch);
	return mix(mix(hash, file), asked) | 1;
}

struct trace_descriptor trace_descriptor_look(int fd)
{
	return (struct trace_descriptor){
		.fd = fd,
		.time_ns = vdso_now_ns(),
		/* Neither ever falls. */
		.changes = load(&place_of(fd)->changes) + load(&all_changes),
	};
}

bool trace_descriptor_find(const struct trace_descriptor *d, struct trace_io_file *ret)
{
	const struct known *k = place_of(d->fd);
	uint64_t file = load(&k->file), asked = load(&k->asked);

	if (d->time_ns - asked >= KNOWN_NS || load(&k->seal) != seal(d, file, asked))
		return false;
	*ret = (struct trace_io_file){ file, asked & 1 };
	return true;
}

void trace_descriptor_keep(const struct trace_descriptor *d, struct trace_io_file file)
{
	struct known *k = place_of(d->fd);
	uint64_t asked = (d->time_ns & ~UINT64_C(1)) | file.may_block;

	if (__atomic_load_n(&is_stopped, __ATOMIC_RELAXED) || trace_runtime_is_vforked())
		return;
	store(&k->seal, 0);
	store(&k->file, file.id);
	store(&k->asked, asked);
	__atomic_store_n(&k->seal, seal(d, file.id, asked), __ATOMIC_RELEASE);
}

void trace_descriptor_forget(int fd)
{
	add_one(&place_of(fd)->changes);
}

void trace_descriptor_change(enum trace_descriptor_change change, const long *arguments)
{
	switch (change) {
	case TRACE_DESCRIPTOR_SAME:
		break;
	case TRACE_DESCRIPTOR_FIRST:
	case TRACE_DESCRIPTOR_SECOND:
		trace_descriptor_forget((int)arguments[change - TRACE_DESCRIPTOR_FIRST]);
		break;
	case TRACE_DESCRIPTOR_RANGE:
		trace_descriptor_change(arguments[2] & CLOSE_RANGE_UNSHARE
						? TRACE_DESCRIPTOR_OWN
						: TRACE_DESCRIPTOR_ALL,
					arguments);
		break;
	case TRACE_DESCRIPTOR_OWN:
		__atomic_store_n(&is_stopped, true, __ATOMIC_RELAXED);
		add_one(&all_changes);
		break;
	case TRACE_DESCRIPTOR_ALL:
		add_one(&all_changes);
		break;
	}
}

static const struct {
	long nr;
	enum trace_descriptor_change change;
} changing[] = {
	{ SYS_close, TRACE_DESCRIPTOR_FIRST },
	{ SYS_close_range, TRACE_DESCRIPTOR_RANGE },
	{ SYS_connect, TRACE_DESCRIPTOR_FIRST },
	{ SYS_bind, TRACE_DESCRIPTOR_FIRST },
#ifdef SYS_dup2
	{ SYS_dup2, TRACE_DESCRIPTOR_SECOND },
#endif
	{ SYS_dup3, TRACE_DESCRIPTOR_SECOND },
	{ SYS_unshare, TRACE_DESCRIPTOR_OWN },
};

void trace_descriptor_note(long nr, const long *arguments)
{
	for (size_t i = 0; i < sizeof(changing) / sizeof(changing[0]); i++)
		if (changing[i].nr == nr)
			trace_descriptor_change(changing[i].change, arguments);
}
