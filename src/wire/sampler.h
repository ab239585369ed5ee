/* SPDX-License-Identifier: Apache-2.0
 *
 * sampler - what the sampler in the target and the recorder say to each other.
 *
 * The recorder makes a private directory with one control file.  Each process image
 * has one ring: a header page, then a ring of records.  It claims one of those in the
 * control file, whose memory is there already, or makes a file when all are taken.  Many
 * threads write (from signal handlers), the recorder alone reads.  Both sides map or
 * pread the same bytes; the files outlive both, so nothing written is lost by SIGKILL.
 *
 * A record is a commit word, a payload, and padding to 8 bytes; it may wrap around.
 * The commit word is stored last and holds the record's own position, so bytes of an
 * earlier lap never look committed and nothing needs to be cleared.
 *
 * Freestanding.  The recorder trusts nothing it reads here.
 */
#ifndef DWELL_WIRE_SAMPLER_H
#define DWELL_WIRE_SAMPLER_H

#include <stdint.h>

#define WIRE_SAMPLER_MAGIC   UINT32_C(0x70536c64) /* "dlSp" */
#define WIRE_SAMPLER_VERSION 10

/* The target's environment: the directory, an absolute path. */
#define WIRE_SAMPLER_ENV "DWELL_SAMPLER"
/* In it: the control file, and ring.PID.TIME for each process image. */
#define WIRE_SAMPLER_CONTROL	 "control"
#define WIRE_SAMPLER_RING_PREFIX "ring."
/* Of a tracer: a named pipe; who writes to it has the recorder look at the rings at once.
 * It has no reader any more when the recorder is gone. */
#define WIRE_SAMPLER_BELL	   "bell"
#define WIRE_SAMPLER_DIRECTORY_MAX 128 /* bytes of the path, terminator included */

#define WIRE_SAMPLER_PAGE 4096 /* both headers */
/* Behind a ring's header and before its records: of so many threads of a tracer that wait
 * at once what each waits for (struct wire_tracer_waiting). */
#define WIRE_SAMPLER_N_WAITING	   512
#define WIRE_SAMPLER_WAITING_BYTES 64
#define WIRE_SAMPLER_RECORDS_AT                                                          \
	(WIRE_SAMPLER_PAGE + WIRE_SAMPLER_N_WAITING * WIRE_SAMPLER_WAITING_BYTES)
#define WIRE_SAMPLER_RING_MIN  (UINT64_C(1) << 14)
#define WIRE_SAMPLER_RING_MAX  (UINT64_C(1) << 26)
#define WIRE_SAMPLER_DEPTH_MAX 1024
/* Largest payload: a sample whose every pc takes ten bytes. */
#define WIRE_SAMPLER_PAYLOAD_MAX (64 + WIRE_SAMPLER_DEPTH_MAX * 10)

enum wire_sampler_flag {
	WIRE_SAMPLER_FOLLOW = 1, /* forked and exec'ed children too */
	/* To what a process executes the tracer is brought by the call that does
	 * (inject/trace_exec.c), and its environment is as it would have been. */
	WIRE_SAMPLER_BRING = 2,
};

/* Written by the recorder, read by every target; the counters at the end the other way.
 */
struct wire_sampler_control {
	uint32_t magic, version;
	uint32_t flags; /* enum wire_sampler_flag */
	uint32_t is_paused;
	uint32_t is_stopped;
	uint32_t n_rings;	    /* in this file, ready to be claimed; grows */
	uint64_t interval_ns;	    /* of CPU time of a thread */
	uint64_t ring_bytes;	    /* a power of two */
	uint64_t n_refused;	    /* process images that could not make a ring */
	uint64_t carry_ns;	    /* CPU time of ended processes, not yet in a sample */
	uint32_t traces;	    /* enum wire_tracer_trace; of a sampler 0 */
	uint32_t fpe_types;	    /* of WIRE_TRACER_FPE: enum wire_tracer_fpe_type */
	uint64_t wait_threshold_ns; /* shorter waits are not told (wire/tracer_sync.h) */
	/* One block of the heap for so many bytes, on average; 0: every block. */
	uint64_t sample_bytes;
	/* The kernel's side of this recording sees waits, too, and skips those that
	 * threads tell it by this that they tell themselves (wire/futex_record.h).  0:
	 * nobody is to know. */
	uint64_t waits_cookie;
	/* Filters of system calls that are in force where the recorder is: a program that
	 * has more has them from somebody who knows nothing of us. */
	uint32_t n_call_filters, pad;
	/* Where the clock stands that stands still in pauses (wire_sampler_observed).
	 * Written before is_paused is. */
	uint64_t pauses;
#define WIRE_SAMPLER_N_RINGS_MAX 256
	/* Of each ring: the pid of its process, 0 free.  A target takes a free one by
	 * compare-and-swap, the recorder alone gives it back. */
	uint32_t claims[WIRE_SAMPLER_N_RINGS_MAX];
};

_Static_assert(sizeof(struct wire_sampler_control) == 104 + 4 * WIRE_SAMPLER_N_RINGS_MAX,
	       "layout");

/* The rest is what the clock shows as long as the pause lasts; of no pause, all that are
 * over.  One word, so that nobody reads half of an end. */
#define WIRE_SAMPLER_STANDS (UINT64_C(1) << 63)

/* What of a time, in ns, was in no pause, as a clock that stands still in them. */
static inline uint64_t wire_sampler_observed(const uint64_t *pauses, uint64_t now_ns)
{
	uint64_t word = __atomic_load_n(pauses, __ATOMIC_RELAXED);

	if (word & WIRE_SAMPLER_STANDS)
		return word & ~WIRE_SAMPLER_STANDS;
	return now_ns > word ? now_ns - word : 0;
}

/* The word from when a pause begins or ends. */
static inline uint64_t wire_sampler_pause(uint64_t pauses, uint64_t now_ns,
					  uint32_t is_paused)
{
	uint64_t observed_ns = wire_sampler_observed(&pauses, now_ns);

	return is_paused ? observed_ns | WIRE_SAMPLER_STANDS : now_ns - observed_ns;
}

/* In the control file behind its page, by pid modulo their number: how far the CPU
 * time of a process' main thread is in samples, for the image that it may exec. */
#define WIRE_SAMPLER_N_ACCOUNTS 1024

struct wire_sampler_account {
	uint32_t pid, pad;
	int64_t ns; /* negative: time carried over from others is not yet in samples */
};

_Static_assert(sizeof(struct wire_sampler_account) == 16, "layout");

#define WIRE_SAMPLER_CONTROL_BYTES                                                       \
	(WIRE_SAMPLER_PAGE +                                                             \
	 WIRE_SAMPLER_N_ACCOUNTS * sizeof(struct wire_sampler_account))

/* Where a ring of the control file begins, with its header. */
static inline uint64_t wire_sampler_ring_at(uint32_t i, uint64_t ring_bytes)
{
	return WIRE_SAMPLER_CONTROL_BYTES + i * (WIRE_SAMPLER_RECORDS_AT + ring_bytes);
}

/* What the recorder asks of one process; done at its next sample. */
enum wire_sampler_request {
	WIRE_SAMPLER_SCAN = 1, /* look for threads that have no timer yet */
	WIRE_SAMPLER_QUIT = 2, /* this process is not wanted */
	/* To a tracer that waits at its end. */
	WIRE_SAMPLER_STAY = 4,	/* it is being looked through */
	WIRE_SAMPLER_GO_ON = 8, /* nothing is wanted of it any more */
};

/* First page of a ring.  magic is stored last when it is made or claimed.  In a ring that
 * had another owner positions go on from there, so that what is left of it never looks
 * committed; start_ns tells that it has another owner now. */
struct wire_sampler_ring {
	uint32_t magic, version;
	uint64_t ring_bytes;
	uint32_t pid, ppid;
	uint64_t start_ns;
	uint8_t pad0[96];
	/* Positions count bytes since the beginning and never wrap. */
	uint64_t head; /* reserved up to here, by the target */
	uint8_t pad1[120];
	uint64_t tail;	  /* read up to here, by the recorder */
	uint32_t request; /* enum wire_sampler_request, by the recorder */
	uint8_t pad2[116];
	/* Totals of the target. */
	uint64_t n_signals;	    /* timer signals handled */
	uint64_t n_intervals;	    /* intervals they stood for: signals + overruns */
	uint64_t n_dropped;	    /* intervals lost because the ring was full */
	uint64_t handler_ns;	    /* time spent in the handler */
	uint64_t n_threads;	    /* threads that have a timer now */
	uint64_t n_threads_refused; /* threads that could not get one */
	/* Of a tracer: waits that were too short to be told, and their time. */
	uint64_t n_short_waits, short_wait_ns;
	uint32_t n_waiting,
		pad3; /* places of threads that wait up to the last ever used */
};

_Static_assert(__builtin_offsetof(struct wire_sampler_ring, head) == 128, "layout");
_Static_assert(__builtin_offsetof(struct wire_sampler_ring, tail) == 256, "layout");
_Static_assert(__builtin_offsetof(struct wire_sampler_ring, n_signals) == 384, "layout");
_Static_assert(sizeof(struct wire_sampler_ring) == 456, "layout");

/* Never renumber: old libraries may run under a newer recorder. */
enum wire_sampler_kind {
	WIRE_SAMPLER_START = 1,	 /* struct wire_sampler_start + path of the program */
	WIRE_SAMPLER_MODULE = 2, /* struct wire_sampler_module + path */
	WIRE_SAMPLER_THREAD = 3, /* struct wire_sampler_thread: begins; of a tracer: is
				  * about to have its first event */
	WIRE_SAMPLER_LEAVE = 4,	 /* struct wire_sampler_thread: ends */
	WIRE_SAMPLER_SAMPLE = 5, /* struct wire_sampler_sample + new frames */
};

/* The commit word: position / 8 in the low half, then payload bytes, then the kind. */
static inline uint64_t wire_sampler_commit(uint64_t position, uint32_t size,
					   unsigned kind)
{
	return (uint32_t)(position >> 3) | (uint64_t)(size & 0xffff) << 32 |
	       (uint64_t)kind << 48;
}

static inline uint64_t wire_sampler_record_bytes(uint32_t size)
{
	return 8 + (((uint64_t)size + 7) & ~UINT64_C(7));
}

enum wire_sampler_origin {
	WIRE_SAMPLER_EXEC = 0,	 /* a new program image */
	WIRE_SAMPLER_FORK = 1,	 /* a copy of the parent, same modules */
	WIRE_SAMPLER_ATTACH = 2, /* an image that ran already */
};

struct wire_sampler_start {
	uint64_t time_ns;
	uint32_t pid, ppid, origin, signal;
	char comm[16];
	/* char path[] */
};

struct wire_sampler_module {
	uint64_t time_ns;
	uint64_t start, end, file_offset;
	uint8_t build_id_size, build_id[20], pad[3];
	/* char path[]: "" is the program itself */
};

struct wire_sampler_thread {
	uint64_t time_ns;
	uint64_t cpu_ns; /* its CPU time */
	uint32_t tid, pad;
	char comm[16];
};

/* The stack's outermost n_shared frames are those of the thread's previous sample;
 * the others follow innermost first, each a uleb of zigzag(pc - previous pc) << 1 |
 * is_exact, from pc 0. */
struct wire_sampler_sample {
	uint64_t time_ns;
	uint32_t tid;
	uint32_t cpu;	/* UINT32_MAX unknown */
	uint32_t count; /* intervals */
	uint16_t n_frames, n_shared;
	uint32_t stop; /* enum unwind_stop */
	uint32_t slot; /* the thread's place: previous sample means of this slot */
};

_Static_assert(sizeof(struct wire_sampler_start) == 40, "layout");
_Static_assert(sizeof(struct wire_sampler_module) == 56, "layout");
_Static_assert(sizeof(struct wire_sampler_thread) == 40, "layout");
_Static_assert(sizeof(struct wire_sampler_sample) == 32, "layout");

#endif
