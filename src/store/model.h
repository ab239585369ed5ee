/* SPDX-License-Identifier: Apache-2.0
 *
 * model - what a recording holds, as plain structs shared by writer and reader.
 *
 * Everything recorded is (event, time, thread, cpu, stack, count, weight) with
 * interned strings, images, locations and stacks.  Ids are dense indices into the
 * recording's dictionaries, plain uint32_t because they live in columns; the field
 * name says which dictionary.  Id 0 of strings is "", of stacks the empty stack.
 * Times are CLOCK_MONOTONIC nanoseconds of the recording machine.
 */
#ifndef DWELL_STORE_MODEL_H
#define DWELL_STORE_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_NONE	   UINT32_MAX /* no id */
#define MODEL_BUILD_ID_MAX 32

/* Where code comes from.  Stored: never renumber. */
enum image_kind {
	IMAGE_ELF = 0,	     /* a file; offset = byte offset in the file */
	IMAGE_KERNEL = 1,    /* offset = address - image.base (_stext) */
	IMAGE_MODULE = 2,    /* kernel module; offset = address - image.base */
	IMAGE_VDSO = 3,	     /* offset in the vDSO image */
	IMAGE_JIT = 4,	     /* one per process; offset = absolute address */
	IMAGE_ANON = 5,	     /* code in memory that no file and no JIT map explains */
	IMAGE_UNKNOWN = 6,   /* no mapping known at that address */
	IMAGE_TRUNCATED = 7, /* pseudo: outermost frame of a stack that ended early;
			      * offset = reason (enum unwind_stop) */
	IMAGE_LABEL = 8, /* pseudo: no code, its path is what it says; frames inside of
			  * it are another thread's, or the kernel's for it */
};

enum image_flag {
	IMAGE_DELETED = 1, /* the file was gone or replaced when mapped */
	IMAGE_32BIT = 2,
};

struct model_image {
	uint32_t path; /* string: as the target saw it; [kernel], [vdso], [jit] … */
	uint32_t host_path;    /* string: where it was opened, if other (mount ns) */
	uint8_t kind;	       /* enum image_kind */
	uint8_t flags;	       /* enum image_flag */
	uint8_t build_id_size; /* 0: none */
	uint8_t build_id[MODEL_BUILD_ID_MAX];
	uint32_t pid;  /* of a JIT or anonymous image, else 0 */
	uint64_t base; /* kernel, module: address of offset 0 when recorded */
	uint64_t size_bytes, mtime_s; /* of the file, 0 unknown */
};

enum location_flag {
	LOCATION_RETURN = 1, /* offset is a return address: the call is before it */
	LOCATION_UNDER = 2,  /* offset is where a function begins that was chosen: what is
			      * inside was executed under it, called directly or not */
	LOCATION_VARIABLE = 4, /* no code: offset is the link-time address of data */
};

struct model_location {
	uint32_t image;
	uint32_t flags;
	uint64_t offset;
};

/* A frame in its calling context; the parent is the caller. */
struct model_stack {
	uint32_t parent; /* stack id, 0: this is the outermost frame */
	uint32_t location;
};

enum process_flag {
	PROCESS_NOT_FOLLOWED = 1, /* note says why: setuid, static, 32-bit … */
};

/* One program image of one process: exec begins another with the same pid.  Pid 0: all
 * processes of this command, executable and cgroup, which a database does not tell apart.
 */
struct model_process {
	uint32_t pid, ppid;
	uint32_t parent;  /* process id of who forked it, MODEL_NONE unknown */
	uint32_t exec_of; /* process id that exec'ed into this one, or MODEL_NONE */
	uint32_t comm, exe, cmdline; /* strings */
	uint32_t note;		     /* string: what limits the data, or 0 */
	uint32_t flags;		     /* enum process_flag */
	int32_t exit_status;	     /* as from wait(2); -1 unknown */
	uint64_t start_ns, end_ns;   /* 0 unknown */
	uint32_t cgroup; /* string: path below the root of its hierarchy, "" unknown */
	/* strings: where and when it ran, in what was merged of several hosts or epochs;
	 * "": as the info of the recording says */
	uint32_t host, epoch;
};

struct model_thread {
	uint32_t process; /* process id */
	uint32_t tid;
	uint32_t name; /* string */
	uint64_t start_ns, end_ns;
};

struct model_mapping {
	uint32_t process, image;
	uint64_t start, end, file_offset;
	uint64_t from_ns, to_ns; /* to_ns 0: until the process ended */
};

enum event_flag {
	EVENT_SAMPLED = 1, /* weight is statistical: period x count */
	EVENT_EXACT = 2,   /* every occurrence is here */
	EVENT_PC_ONLY = 4, /* one frame by design (pcsamp) */
	EVENT_ASIDE = 8,   /* of more detail than tables show unasked */
	EVENT_SUMMED = 16, /* written now and then, of what was since the time before */
	EVENT_EACH = 32,   /* each by itself: from the sample's time on, for its weight */
	EVENT_BESIDE =
		64, /* of these, beside what its thread does, and beside each other */
};

/* What is counted: a column of the reports. */
struct model_event {
	uint32_t name;	     /* string: cpu-time, blocked-time, faults … */
	uint32_t unit;	     /* string: ns, bytes, count */
	uint32_t experiment; /* string: usertime … */
	uint32_t source;     /* string: how it was collected: perf cpu-clock, timer … */
	uint32_t description; /* string */
	uint32_t flags;	      /* enum event_flag */
	uint64_t period;      /* weight of one count in unit; 0: varies */
};

struct model_sample {
	uint64_t time_ns;
	uint64_t weight; /* in the event's unit */
	uint32_t event, thread, cpu, stack;
	uint32_t count; /* observations merged into this one, at least 1 */
};

/* Typed columns of a trace event. */
enum column_type {
	COLUMN_U64 = 0,
	COLUMN_I64 = 1,
	COLUMN_STRING = 2, /* string id */
	COLUMN_ADDRESS = 3,
	COLUMN_DURATION = 4, /* ns */
	COLUMN_BYTES = 5,
};

#define MODEL_TRACE_COLUMNS_MAX 16

struct model_trace_type {
	uint32_t event; /* event id */
	uint32_t n_columns;
	struct {
		uint32_t name; /* string */
		uint32_t type; /* enum column_type */
	} columns[MODEL_TRACE_COLUMNS_MAX];
};

struct model_trace {
	uint64_t time_ns;
	uint32_t trace_type, thread, cpu, stack;
	uint64_t values[MODEL_TRACE_COLUMNS_MAX];
};

/* How a basic block ends.  Stored: never renumber. */
enum block_end {
	BLOCK_END_ON = 0, /* the next begins here for another reason */
	BLOCK_END_BRANCH = 1,
	BLOCK_END_JUMP = 2,
	BLOCK_END_CALL = 3,
	BLOCK_END_INDIRECT_JUMP = 4,
	BLOCK_END_INDIRECT_CALL = 5,
	BLOCK_END_RETURN = 6,
	BLOCK_END_SYSCALL = 7,
	BLOCK_END_STOP = 8, /* nothing follows */
};

/* Code with one way in, as one process executed it.  Blocks may overlap: code that is
 * entered in the middle is in two of them. */
struct model_basic_block {
	uint32_t process;
	uint32_t location; /* of its first instruction */
	uint32_t size_bytes, n_instructions;
	uint32_t end;	/* enum block_end */
	uint64_t times; /* entered */
};

/* Stored: never renumber. */
enum edge_kind {
	EDGE_ON = 0,	/* to the next by address */
	EDGE_TAKEN = 1, /* branch or jump to its target */
	EDGE_CALL = 2,
	EDGE_INDIRECT_JUMP = 3,
	EDGE_INDIRECT_CALL = 4,
	EDGE_RETURN = 5,   /* to wherever it was called from */
	EDGE_RETURNED = 6, /* to the block itself, from what it called */
	EDGE_SYSCALL = 7,  /* on, behind the call */
	EDGE_ENTERED = 8,  /* a thread or process begins at the block itself */
	EDGE_LEFT = 9,	   /* the block was left for good; to: at that instruction */
};

/* A way out of a basic block, or into it where its origin is not known, that was taken;
 * others are not kept. */
struct model_edge {
	uint32_t block;	   /* id of the basic block */
	uint32_t location; /* where to, MODEL_NONE unknown */
	uint32_t kind;	   /* enum edge_kind */
	uint64_t times;
};

/* Which way a branch went right after samples: conditional ones, and those that go where
 * an operand says. */
struct model_direction {
	uint32_t process;
	uint32_t location; /* of the branch */
	uint32_t to;	   /* location, MODEL_NONE: could not be told */
	uint64_t times;	   /* passages */
	uint64_t samples;  /* after which the branch went there when it was met first */
	/* Of the passages, where the processor tells: foreseen wrongly, and rightly. */
	uint64_t missed, foreseen;
};

/* What is told of the places in memory that an instruction accessed after samples: what
 * the value is, and what was seen so many times. */
enum model_access_what {
	ACCESS_MET,	   /* where is known; value: after so many samples */
	ACCESS_UNKNOWN,	   /* where is not known; 0 */
	ACCESS_LINE,	   /* a line of 64 bytes by its hash, after so many samples */
	ACCESS_PAGE,	   /* the same of 4096 bytes */
	ACCESS_STRIDE,	   /* so far from where it was the time before, as zigzag; */
	ACCESS_AGAIN,	   /* all of these, also those that are not known; 0 */
	ACCESS_OTHER_LINE, /* of these, to another line, or unknown; 0 */
	ACCESS_OTHER_PAGE, /* the same */
	ACCESS_LAST,	   /* and whether it came again could not be told; 0 */
	ACCESS_LOWEST,	   /* an address */
	ACCESS_HIGHEST,	   /* the same */
	ACCESS_N_WHATS
};

struct model_access {
	uint32_t process;
	uint32_t location; /* of the instruction */
	uint32_t what;	   /* enum model_access_what; others are of later versions */
	uint64_t value, times;
};

struct model_interval {
	uint64_t from_ns, to_ns;
	uint32_t name, cause; /* strings */
};

/* A measured number about the recording: rusage, rates, the profiler's own cost. */
enum fact_kind {
	FACT_TARGET = 0, /* about the profiled program: "user-time", "system-time",
			  * "wall-time", "max-rss", "exit-status" */
	FACT_SELF = 1,	 /* the profiler's own cost: "cpu-time", "max-rss", "bytes" */
	FACT_RATE = 2,	 /* "requested-period", "delivered", "timer-overruns" … */
	FACT_LOSS = 3,	 /* what is not here: "lost-samples", "lost-bytes",
			  * "throttled", "not-followed" … */
};

struct model_fact {
	uint32_t kind;	  /* enum fact_kind */
	uint32_t name;	  /* string, one of the documented ones */
	uint32_t unit;	  /* string */
	uint32_t event;	  /* event id or MODEL_NONE */
	uint32_t process; /* process id or MODEL_NONE */
	uint64_t value;	  /* a later fact of the same kind, name, event and process
			   * replaces the earlier */
};

enum blob_kind {
	BLOB_KALLSYMS = 0,
	BLOB_JIT_MAP = 1, /* perf-PID.map, name tells */
	BLOB_JIT_DUMP = 2,
	BLOB_ELF = 3,	  /* an archived image */
	BLOB_DEBUG = 4,	  /* its separate debug file */
	BLOB_SOURCE = 5,  /* name = path as in the debug information */
	BLOB_MODULES = 6, /* /proc/modules */
	/* Beside the debug file of an image: */
	BLOB_ALTERNATE = 7, /* what dwz moved out of it */
	BLOB_SPLIT = 8,	    /* a .dwo; name = path as in the debug information */
	BLOB_PACKAGE = 9,   /* a .dwp: many .dwo in one */
};

/* A file kept inside the recording. */
struct model_blob {
	uint32_t kind;	/* enum blob_kind */
	uint32_t name;	/* string */
	uint32_t image; /* image id or MODEL_NONE */
	uint64_t size_bytes;
};

#endif
