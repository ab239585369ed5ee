/* SPDX-License-Identifier: Apache-2.0
 *
 * What the daemon starts to make segments: no command for people.
 */
#include <stdio.h>

#include "base/text.h"
#include "cmd/command.h"
#include "collect/segment_maker.h"
#include "collect/session_signals.h"

extern const struct command cmd_segments;

static const struct option_spec segments_options[] = {
	{ .name = "db", .kind = OPTION_STRING, .arg = "DIR", .text = "The database" },
	{ .name = "host",
	  .kind = OPTION_STRING,
	  .arg = "NAME",
	  .text = "Of this machine" },
	{ .name = "lock",
	  .kind = OPTION_U64,
	  .arg = "FD",
	  .text = "The descriptor that holds the lock" },
	{ .name = "keep",
	  .kind = OPTION_U64,
	  .arg = "SECONDS",
	  .text = "Remove what is older; 0: nothing" },
	{ .name = "keep-size",
	  .kind = OPTION_U64,
	  .arg = "BYTES",
	  .text = "Remove the oldest when there is more; 0: nothing" },
	OPTION_END,
};

static int run_segments(struct options *o, struct err *e)
{
	struct segment_maker_settings settings = {
		.database = options_str(o, "db"),
		.host = options_str(o, "host"),
		.lock = (int)options_u64(o, "lock", 0),
		.retention = { .max_age_s = (int64_t)options_u64(o, "keep", 0),
			       .max_bytes = options_u64(o, "keep-size", 0) },
	};
	char safe[sizeof(e->text) * 4];
	int rc;

	if (!settings.database || !settings.host || !settings.lock)
		return err_set(e, ERR_USAGE, "'dwell daemon' starts this by itself");
	session_signals_ignore();
	segment_maker_yield();
	rc = segment_maker_run(&settings, stdout, e);
	if (rc < 0)
		printf(SEGMENT_MAKER_ERROR " %s\n",
		       text_printable(safe, sizeof(safe), e->text));
	return rc < 0 ? EXIT_ERROR : EXIT_OK;
}

const struct command cmd_segments = {
	.name = "segments",
	.usage = "[options]",
	.summary = "Make segments of what waits beside a database's epochs",
	.description = "Started by 'dwell daemon', whose lock it works under.",
	.options = (const struct option_spec *const[]){ segments_options, NULL },
	.group = "daemon",
	.run = run_segments,
};
