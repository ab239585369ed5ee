/* SPDX-License-Identifier: Apache-2.0
 *
 * count_control - what the recorder and the counting engine tell each other in a process
 * that already runs: what there is when the engine comes, and where its threads are when
 * it goes.
 *
 * A block in the process's memory, written by the recorder before the engine begins and
 * by the engine afterwards; both are of one build.  Addresses are the process's.
 */
#ifndef DWELL_WIRE_COUNT_CONTROL_H
#define DWELL_WIRE_COUNT_CONTROL_H

#include <signal.h>
#include <stdint.h>

#define COUNT_CONTROL_MAGIC 0x6b6f6f7474756f63ULL

/* What becomes of a system call that was interrupted, as its thread was stopped, if the
 * program's handler of a signal is called before it is made again: signal(7). */
enum count_control_call {
	COUNT_CALL_NONE, /* it is in none */
	COUNT_CALL_AGAIN,
	COUNT_CALL_UNLESS_FLAG, /* EINTR, unless the handler has SA_RESTART */
	COUNT_CALL_ENDS,	/* EINTR */
};

#define COUNT_CONTROL_CALL_BYTES 2 /* of the instruction that makes one */

/* A thread, as the program has it. */
struct count_control_regs {
	uint64_t regs[16]; /* by the instruction set's numbers */
	uint64_t flags, ip;
	uint64_t gs_base;
};

struct count_control_thread {
	struct count_control_regs native;
	uint64_t mask; /* of blocked signals */
	uint64_t call; /* enum count_control_call */
	/* From the engine: what gs points at, and the stack to begin on. */
	uint64_t context, stack;
};

/* Memory that can be executed, or of a file that others have as well. */
struct count_control_range {
	uint64_t start, end, off, inode;
	uint32_t device_major, device_minor;
	uint64_t path; /* 0: no file */
	uint64_t is_exec, is_writable, is_shared;
};

struct count_control_piece {
	uint64_t addr, bytes;
};

enum count_control_state {
	COUNT_CONTROL_READY = 1, /* threads can be taken over */
	COUNT_CONTROL_FAILED,
	COUNT_CONTROL_LEFT,  /* it has waited for long, and goes on natively */
	COUNT_CONTROL_RESTS, /* no thread is with the engine, until it is begun again */
};

/* A thread waits in sched_yield for the recorder; it stays with the engine when that
 * comes back. */
enum count_control_park {
	COUNT_PARK_AWAY = 1, /* .native is the program's state */
	COUNT_PARK_NOT_YET,  /* .native is where to go on: the engine is entered soon */
	COUNT_PARK_DONE,     /* nothing of the process leads to the engine any more */
	COUNT_PARK_STACK, /* nothing of the thread does: its signals' stack is its own */
};

/* Of each thread, in its context. */
struct count_control_leave {
	struct count_control_regs native;
	uint64_t stack[3]; /* of signals: the argument of sigaltstack() */
	uint64_t mask;	   /* of signals that the program has blocked */
	uint64_t has_mask; /* the recorder knows it, and has blocked all */
	uint64_t parked;
};

/* In a context's word of what waits at the engine's end. */
#define COUNT_CONTROL_HELD_SIGNAL 1
#define COUNT_CONTROL_HELD_LEAVE  2

/* What a call of the program's seems to have given that is not made, for the thread is to
 * leave: it is made afterwards, or the rest of it is. */
#define COUNT_CONTROL_NOT_MADE	   (-512L)
#define COUNT_CONTROL_NOT_FINISHED (-516L)

/* Of signals, those that instructions raise.  While the engine begins they are not
 * blocked: for one of its own that is, the kernel would take the program's handler away.
 */
#define COUNT_CONTROL_BIT(signal) (1ULL << ((signal)-1))
#define COUNT_CONTROL_FAULTS                                                             \
	(COUNT_CONTROL_BIT(SIGSEGV) | COUNT_CONTROL_BIT(SIGBUS) |                        \
	 COUNT_CONTROL_BIT(SIGILL) | COUNT_CONTROL_BIT(SIGFPE) |                         \
	 COUNT_CONTROL_BIT(SIGTRAP) | COUNT_CONTROL_BIT(SIGSYS))

#define COUNT_CONTROL_WHY_BYTES	 128
#define COUNT_CONTROL_PIECES_MAX 2048

struct count_control {
	uint64_t magic;
	/* The recorder's. */
	uint64_t owner; /* a number that no other recorder has */
	/* Texts: of the file of counts, the program's, and wire/count_flags.h. */
	uint64_t prefix, name, flags;
	uint64_t threads, n_threads;
	uint64_t ranges, n_ranges;
	uint64_t bytes; /* of all this, and a stack that ends it */
	/* All threads have been led to their contexts; else those that have been go on
	 * natively, as the others do. */
	uint64_t are_led;
	/* The context of the only thread that there is, which undoes what is the
	 * process's before the engine rests; 0: that is done. */
	uint64_t last;
	/* The engine's. */
	uint64_t state;
	char why[COUNT_CONTROL_WHY_BYTES]; /* it failed */
	uint64_t pieces, n_pieces;	   /* where they are: the number as well */
	uint64_t n_sharers; /* where it is: children that share memory for good */
	uint64_t are_away;  /* where it is: some are native, so all that come back are */
	/* Likewise, from the recorder: the context of who is to undo what is the
	 * process's, before it does.  Should nobody take them out, others wait for it. */
	uint64_t finisher;
	uint64_t n_confining; /* likewise: threads that wait to be left */
	uint64_t is_confined; /* a byte: it has forbidden itself calls that are needed */
	uint64_t code_start, code_end;	/* its own */
	uint64_t join, release, finish; /* entries, with the context in rdi */
	uint64_t aside;			/* the same, and the stack of aside_off */
	uint64_t rest,
		again; /* with this in rdi and the stack behind it, all being away */
	uint64_t self_off, leave_off, held_off;	  /* in a context */
	uint64_t stack_off, aside_off;		  /* where its stacks end */
	uint64_t call_check, call_made, call_not; /* around the program's calls */
	uint64_t in_checked, in_end; /* here registers are on their way to the program */
};

#endif
