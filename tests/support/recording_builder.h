/* SPDX-License-Identifier: Apache-2.0
 *
 * recording_builder - recordings with known contents, from a few lines of text.
 *
 * For tests of everything that reads recordings.  The whole of it is mostly
 *
 *	recording_builder_write(path, "main;work;inner 70\n"
 *				      "main;idle 30\n");
 *
 * Names resolve without any ELF file: functions get addresses in a synthetic image and
 * a map of their names is kept inside the recording, as for JIT code.
 *
 * The text: one thing per line, # begins a comment, "…" keeps blanks in a value.
 *
 *  FRAMES [N] [event=E] [pid=P] [tid=T] [cpu=C] [time=NS] [weight=W]
 *	A sample of N (1) counts; weight: N periods of the event.  FRAMES are separated by
 *	";", outermost first; "-" is the empty stack.  A frame is
 *	  name          a function of the image [jit] of the process
 *	  IMAGE!name    a function of another image (declared, or made with that path)
 *	  name_[k]      a function of the kernel
 *	  IMAGE+0x10    a place in a declared image
 *	  name+0x10     a place in a function (+0x20 when nothing is said)
 *	  [truncated:N] the stack ends early for that reason (enum unwind_stop)
 *	  [unknown]+0x10   an address in no mapping
 *	All but the innermost are return addresses; a "!" at the end says: not this one,
 *	and "^" that it is a function that was chosen, where it begins.
 *  use [event=E] [pid=P] [tid=T] [cpu=C] [time=NS] [step=NS]
 *	What samples are without saying so; time advances by step (1 ms) with each.
 *  event NAME [unit=ns] [period=1000000] [experiment=X] [source=X] [description=X]
 *	[flags=sampled,exact,pc-only,aside]
 *	With none declared: cpu-time, ns, 1000000, usertime, test, sampled.
 *  process PID COMM [ppid=N] [parent=PID] [exec-of=PID] [exe=PATH] [cmdline=X] [note=X]
 *	[cgroup=PATH] [host=X] [epoch=X] [not-followed] [exit=STATUS] [start=NS] [end=NS]
 *	With none declared: 1000 test.  A process begins with a thread of its pid.
 *  thread PID TID [NAME] [start=NS] [end=NS]
 *  image NAME PATH [kind=elf|kernel|module|vdso|jit|anon|unknown|label] [host=PATH]
 *	[build-id=HEX] [pid=N] [base=N] [size=N] [mtime=N] [deleted] [32bit]
 *  function IMAGE NAME ADDRESS SIZE	(IMAGE of kind jit or kernel)
 *  map PID IMAGE START END FILE-OFFSET [from=NS] [to=NS]
 *  trace-type NAME [event=E] COLUMN:u64|i64|string|address|duration|bytes ...
 *  trace NAME [FRAMES] [pid=P] [tid=T] [cpu=C] [time=NS] COLUMN=VALUE ...
 *  basic-block FRAME SIZE INSTRUCTIONS END TIMES [pid=P]
 *  edge BLOCK KIND TIMES [FRAME]	(BLOCK counts from 0)
 *  direction FRAME TIMES [FRAME] [samples=N] [missed=N] [foreseen=N]
 *	Of the branch, and where it went.
 *  access FRAME WHAT VALUE TIMES	(of memory: WHAT is of enum model_access_what)
 *  anchor WINDOW TIMES [FRAME] [size=N] [cpu=NS] [pid=P]
 *  anchor-way WINDOW TIMES FRAME [FRAME] [pid=P]
 *	Of what is behind the jump, and where it went.
 *  gauge WHAT TIME VALUE [pid=P]	(WHAT: as gauge_names has it)
 *  interval FROM TO NAME [cause=X]
 *  fact target|self|rate|loss NAME VALUE [unit=count] [event=E] [pid=P]
 *  info KEY the value up to the end of the line
 *  blob kallsyms|jit-map|jit-dump|elf|debug|source|modules NAME file=PATH|text=X
 *	[image=IMAGE]
 *  flush
 *	What was said so far becomes blocks of its own.
 *  unfinished
 *	The recorder was killed here: no index is written.
 */
#ifndef DWELL_SUPPORT_RECORDING_BUILDER_H
#define DWELL_SUPPORT_RECORDING_BUILDER_H

#include "base/err.h"
#include "base/own.h"
#include "store/writer.h"

struct recording_builder;

/* All in one; prints what is wrong and aborts: for tests. */
void recording_builder_write(const char *path, const char *text);

must_use int recording_builder_create(const char *path,
				      const struct writer_options *options,
				      struct recording_builder **ret, struct err *e);
void recording_builder_free(struct recording_builder *b);
void recording_builder_freep(struct recording_builder **b);
must_use int recording_builder_text(struct recording_builder *b, const char *text,
				    struct err *e);
/* For what the text cannot say. */
struct writer *recording_builder_writer(struct recording_builder *b);
/* Adds the maps of names and closes; frees the builder also on failure. */
must_use int recording_builder_close(struct recording_builder *b, struct err *e);

#endif
