/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_options.h"

#include "cmd/database_options.h"

const struct option_spec report_options_input[] = {
	{ .name = "event",
	  .short_name = 'e',
	  .kind = OPTION_LIST,
	  .arg = "EVENT",
	  .text = "Only these events (default: all that were recorded)" },
	{ .name = "filter",
	  .kind = OPTION_STRING,
	  .arg = "EXPR",
	  .text = "Only samples for which EXPR holds: \"thread == worker && time < 2s\"; "
		  "fields are time, interval, thread, process, command, cgroup, "
		  "host, epoch, cpu, event, "
		  "function, leaf, image, file, line, mode and more" },
	{ .name = "no-inline",
	  .kind = OPTION_FLAG,
	  .text = "Charge inlined functions to the function they are in" },
	{ .name = "mangled",
	  .kind = OPTION_FLAG,
	  .text = "Show C++ and Rust names as the linker knows them" },
	{ .name = "sysroot",
	  .kind = OPTION_STRING,
	  .arg = "DIR",
	  .text = "Look for images below DIR" },
	{ .name = "debug-dir",
	  .kind = OPTION_REPEAT,
	  .arg = "DIR",
	  .default_text = "/usr/lib/debug",
	  .text = "Look for separate debug files below DIR" },
	{ .name = "no-debuginfod",
	  .kind = OPTION_FLAG,
	  .text = "Do not ask debug servers, even when DEBUGINFOD_URLS is set" },
	{ .name = "db",
	  .kind = OPTION_STRING,
	  .arg = "PATH",
	  .text = "Read this database instead of a recording" },
	DATABASE_OPTIONS_SELECT,
	OPTION_END,
};

const struct option_spec report_options_ideal[] = {
	{ .name = "model",
	  .kind = OPTION_STRING,
	  .arg = "MACHINE",
	  .default_text = "that of the recording's processor",
	  .text = "Machine model for ideal time, and for what instructions take at "
		  "best" },
	{ .name = "clock",
	  .kind = OPTION_STRING,
	  .arg = "GHZ",
	  .default_text = "as measured when recording",
	  .text = "Clock for the same" },
	OPTION_END,
};

const struct option_spec report_options_sort[] = {
	{ .name = "sort",
	  .short_name = 's',
	  .kind = OPTION_STRING,
	  .arg = "KEY[:EVENT]",
	  .default_text = "exclusive, by the first event",
	  .text = "Order by KEY: exclusive, inclusive or name" },
	OPTION_END,
};

const struct option_spec report_options_match[] = {
	{ .name = "no-guess",
	  .kind = OPTION_FLAG,
	  .text = "Match functions by their names only, never by their shape" },
	OPTION_END,
};

const struct option_spec report_options_rows[] = {
	{ .name = "limit",
	  .short_name = 'n',
	  .kind = OPTION_U64,
	  .arg = "N",
	  .text = "At most N rows; 0: all" },
	{ .name = "min",
	  .kind = OPTION_STRING,
	  .arg = "PCT",
	  .text = "Leave out rows with less than PCT percent" },
	{ .name = "cumulative",
	  .kind = OPTION_STRING,
	  .arg = "PCT",
	  .text = "Stop when the rows shown make up PCT percent" },
	OPTION_END,
};

const struct option_spec report_options_output[] = {
	{ .name = "json", .kind = OPTION_FLAG, .text = "Print JSON" },
	{ .name = "width",
	  .kind = OPTION_U64,
	  .arg = "COLUMNS",
	  .min = 40,
	  .max = 10000,
	  .default_text = "the terminal's, else 80",
	  .text = "Fit the text into COLUMNS" },
	OPTION_END,
};

size_t report_options_limit(const struct options *o, size_t text_rows)
{
	return (size_t)options_u64(o, "limit", options_has(o, "json") ? 0 : text_rows);
}

size_t report_options_shown(size_t limit, size_t n)
{
	return limit && limit < n ? limit : n;
}
