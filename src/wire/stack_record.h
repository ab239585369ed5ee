/* SPDX-License-Identifier: Apache-2.0
 *
 * stack_record - what the kernel's side of the sampler tells the collector.
 *
 * Each CPU counts samples in a table of sets, a cache line each: the key stands for the
 * stack and for who ran.  What a key stands for is told once, when it enters the table;
 * what leaves the table early is told with its count.  The collector reads the rest from
 * the table, of which there are two: while it empties one, the other is filled.
 *
 * Freestanding; shared with BPF programs.
 */
#ifndef DWELL_WIRE_STACK_RECORD_H
#define DWELL_WIRE_STACK_RECORD_H

#include <stdint.h>

#define STACK_RECORD_WAYS	4
#define STACK_RECORD_KERNEL_MAX 64
#define STACK_RECORD_USER_MAX	192
#define STACK_RECORD_FRAMES_MAX (STACK_RECORD_KERNEL_MAX + STACK_RECORD_USER_MAX)

/* Of a table. */
struct stack_record_slot {
	uint64_t key; /* 0: free */
	uint64_t count;
};

struct stack_record_set {
	struct stack_record_slot slots[STACK_RECORD_WAYS];
};

_Static_assert(sizeof(struct stack_record_set) == 64, "a cache line");

enum stack_record_kind {
	STACK_RECORD_STACK = 1, /* struct stack_record */
	STACK_RECORD_COUNT = 2, /* struct stack_record_count */
	STACK_RECORD_IMAGE = 3, /* struct stack_record_image */
	STACK_RECORD_PAIR = 4,	/* struct stack_record_pair */
	STACK_RECORD_AGAIN = 5, /* struct stack_record_again */
	STACK_RECORD_FILE = 6,	/* struct io_record_file */
	STACK_RECORD_EACH = 7,	/* struct stack_record_each */
};

/* Why a walk of the user part ended: the numbers of enum unwind_stop. */
enum stack_record_stop {
	STACK_STOP_END = 0,
	STACK_STOP_NO_MAP = 1,
	STACK_STOP_NO_TABLE = 2,
	STACK_STOP_BAD_RULE = 3,
	STACK_STOP_BAD_MEMORY = 4,
	STACK_STOP_LIMIT = 6,
	STACK_STOP_NO_PROGRESS = 7,
	STACK_STOP_NO_REGISTER = 8,
	STACK_STOP_32BIT = 9,
	STACK_STOP_NOT_LOADED = 10,
};

/* A frame of the user part: image, whether it is exact (not a return address) and the
 * offset in the image's file.  Code that no file explains has its address instead. */
#define STACK_RECORD_OFFSET_BITS 43
#define STACK_RECORD_EXACT	 (UINT64_C(1) << STACK_RECORD_OFFSET_BITS)
#define STACK_RECORD_OFFSET	 (STACK_RECORD_EXACT - 1)
#define STACK_RECORD_IMAGE_SHIFT 44
#define STACK_RECORD_ADDRESS	 0xffff0 /* image: + the address' bits above the offset's */
/* Images that are no file. */
#define STACK_RECORD_UNMAPPED 0 /* the frame is an address nobody maps */
#define STACK_RECORD_VDSO     1
#define STACK_RECORD_FILES    2 /* the first that is one */

#define STACK_RECORD_ANY_CPU UINT32_MAX

enum stack_record_flag {
	STACK_RECORD_IS_PROCESS = 1, /* its pid matters */
	STACK_RECORD_IS_THREAD = 2,  /* so do its tid and thread_comm */
	STACK_RECORD_IS_EXEC = 4,    /* the name may be the old, the executable the new */
};

struct stack_record {
	uint16_t kind;
	uint16_t table; /* where the key is counted */
	uint32_t state; /* enum state_record_state, where times are summed; else the event
			 */
	uint64_t key;
	uint64_t time_ns;  /* when the names were read, where threads are told apart */
	uint32_t pid, tid; /* of the first that had it */
	uint64_t cgroup;
	char comm[16];	      /* of the process */
	char thread_comm[16]; /* of the thread, where threads are told apart */
	uint32_t exe;	      /* image */
	uint8_t n_kernel, n_user;
	uint8_t stop;	 /* enum unwind_stop of the user part */
	uint8_t flags;	 /* enum stack_record_flag */
	uint32_t label;	 /* what is inside of the innermost frame, 0: nothing */
	uint32_t cpu;	 /* where CPUs are told apart, else STACK_RECORD_ANY_CPU */
	uint64_t object; /* data inside of the label, as a frame of code is; 0: none */
	uint64_t behind; /* if that is an address: where behind a file it lies, as a frame
			  * of it; 0: behind none */
	uint64_t frames[STACK_RECORD_FRAMES_MAX]; /* the kernel's, then the user's */
};

struct stack_record_count {
	uint16_t kind;
	uint16_t table;
	uint32_t count;
	uint64_t key;
};

/* A key that stands for two stacks, each told before it: where a thread waited, and where
 * it was woken from. */
struct stack_record_pair {
	uint16_t kind;
	uint16_t zero16;
	uint32_t zero32;
	uint64_t key, waiter, waker;
};

/* A key that stands for the same as another, which was told before; with a label, for the
 * same stack with this label in place of its own, in this state. */
struct stack_record_again {
	uint16_t kind;
	uint16_t state;
	uint32_t label; /* 0: what the other has */
	uint64_t key, of;
};

/* One of those that were summed under a key, by itself; it was told before what the key
 * stands for, though maybe in another CPU's ring. */
struct stack_record_each {
	uint16_t kind;
	uint16_t zero16;
	uint32_t zero32;
	uint64_t key, from_ns, ns;
};

#define STACK_RECORD_PATH_BYTES 1024
#define STACK_RECORD_PART_BYTES 256 /* of a path, its end included */

/* A file that is met for the first time, or whose rules are wanted again.  No more of it
 * is told than path_bytes. */
struct stack_record_image {
	uint16_t kind;
	uint16_t zero16;
	uint32_t image;
	uint64_t inode;
	uint32_t device, generation;
	uint32_t pid, path_bytes;
	uint64_t start, end, file_offset; /* a mapping of it in pid; 0: its executable */
	/* The parts of its path, the last first, each ended by a zero. */
	char path[STACK_RECORD_PATH_BYTES + STACK_RECORD_PART_BYTES];
};

/* Where the program times itself: quarters of a microsecond, the last: longer. */
#define STACK_RECORD_COST_STEPS 32
#define STACK_RECORD_COST_NS	256

/* Per CPU. */
struct stack_record_stats {
	uint64_t samples, hits, evicted;
	uint64_t lost;	    /* samples that could not be told: the ring was full */
	uint64_t stops[16]; /* user stacks walked, by enum stack_record_stop */
	uint64_t cost_steps[STACK_RECORD_COST_STEPS]; /* samples, by what they took */
	/* In all, where the program times itself: samples; counting those whose key was
	 * in the table, and the others. */
	uint64_t took_ns, hit_ns, miss_ns;
	uint64_t of_events[16]; /* samples by their event, where there are several */
	/* The collector's word: when so many samples are taken it is gone, and that is
	 * all. */
	uint64_t until;
	/* Periods of clocks that passed without a sample: those that a later one stands
	 * for, of the samples; and those that a hypervisor took. */
	uint64_t missed, stolen;
	uint64_t pad[6];
};

_Static_assert(sizeof(struct stack_record_stats) == 640, "cache lines");

/* Where the program times itself, per CPU: how long after their time samples are taken.
 * Step 0 is below half a microsecond, each further one reaches twice as far. */
#define STACK_RECORD_LATE_STEP_NS UINT64_C(512)
#define STACK_RECORD_LATE_STEPS	  16
/* What the interrupt itself does not take, in virtual machines neither. */
#define STACK_RECORD_LATE_NS	 UINT64_C(32000)
#define STACK_RECORD_LATE_PLACES 64

struct stack_record_late_place {
	uint64_t pc, count;
};

struct stack_record_late {
	uint64_t steps[STACK_RECORD_LATE_STEPS]; /* samples */
	uint64_t late, late_ns; /* samples at least STACK_RECORD_LATE_NS late */
	uint64_t late_user;	/* of these, in user code */
	uint64_t pad[5];
	/* Of the others, those in the kernel, where they come often. */
	struct stack_record_late_place places[STACK_RECORD_LATE_PLACES];
};

_Static_assert(sizeof(struct stack_record_late) == 192 + 1024, "layout");

#endif
