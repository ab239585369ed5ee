# SPDX-License-Identifier: Apache-2.0
"""BAR 15: how long a report on a very large recording takes."""
import json

import big_program
import measure

INTERVAL_US = 1000
FULL = {"parts": 10, "steps": 6, "samples": 10_000_000, "stacks": 1_000_000, "places": 100_000}
SHORT = {"parts": 2, "steps": 6, "samples": 1_000_000, "stacks": 100_000, "places": 20_000}
PEER_SECONDS, PEER_TIMEOUT_S = 5, 300


def make_recording(bench, size, program):
    offset, text_size, build_id = big_program.text_section(program)
    out = bench.scratch("many.dwell")
    measure.Run([bench.helper("many_samples"), out, program, build_id, offset, text_size,
                 size["samples"], size["stacks"], size["places"]])
    return out


def our_row(bench, size, recording):
    """Each run with caches of its own that are empty."""
    runs = []
    for i in range(bench.n_pairs):
        cache = bench.scratch(f"cache-{i}")
        runs.append(measure.Run([bench.dwell, "report", recording],
                                env={"XDG_CACHE_HOME": str(cache), "DEBUGINFOD_URLS": ""}))
    report = json.loads(measure.text_of([bench.dwell, "report", "--json", recording]) or "{}")
    total = report.get("total", {}).get("cpu-time", 0)
    unresolved = report.get("quality", {}).get("unresolved", {}).get("cpu-time", 0)
    return {
        "tool": "dwell",
        "wall s": measure.median([r.wall_s for r in runs]),
        "CPU s": measure.median([r.cpu_s for r in runs]),
        "memory MB": max(r.max_rss_mb for r in runs),
        "samples": size["samples"],
        "file MB": measure.size_of(recording) / 1e6,
        "samples read %": 100 * total / 1e9 / (size["samples"] / 1000),
        "unresolved %": 100 * unresolved / total if total else None,
        "functions": len(report.get("rows", [])),
    }


def peer_row(bench, tool, program, report):
    """The same question to a tool about seconds of a real run of the program."""
    if tool.missing:
        return {"tool": tool.name, "wall s": tool.missing}
    out = bench.scratch("big" + tool.suffix)
    bench.remove(out)
    measure.Run(tool.record(out, INTERVAL_US, [program, PEER_SECONDS]))
    made = measure.Run([*report, out], timeout=PEER_TIMEOUT_S)
    return {
        "tool": tool.name,
        "wall s": f"> {PEER_TIMEOUT_S}" if made.timed_out else made.wall_s,
        "CPU s": made.cpu_s,
        "memory MB": made.max_rss_mb,
        "samples": tool.samples(out)[0] or None,
        "file MB": measure.size_of(out) / 1e6,
    }


REPORTS = {"perf dwarf": ["perf", "report", "--stdio", "-i"],
           "gprofng": ["gprofng", "display", "text", "-functions"]}


class Bar:
    what = "a report of functions, inlined calls included, on a very large recording"

    def __init__(self, bench):
        self.bench, self.size = bench, SHORT if bench.is_short else FULL
        self.program = big_program.build(bench.build / "bench", self.size["parts"], self.size["steps"])
        size = self.size
        self.notes = [f"{size['samples']:,} samples, {size['stacks']:,} stacks, {size['places']:,} addresses of a "
                      f"{measure.size_of(self.program) / 1e6:.0f} MB program; dwell's caches empty",
                      f"the others report on {PEER_SECONDS} s of a real run of the program at 1 kHz"]

    def rows(self):
        yield our_row(self.bench, self.size, make_recording(self.bench, self.size, self.program))
        for tool in self.bench.tools:
            if tool.name in REPORTS:
                yield peer_row(self.bench, tool, self.program, REPORTS[tool.name])

    @staticmethod
    def verdicts(rows):
        ours = rows[0]
        is_whole = abs(ours["samples read %"] - 100) < 1e-6
        yield "<= 1 s", ours["wall s"] <= 1 and is_whole, f"{ours['wall s']:.2f} s"
        yield "<= 200 MB", ours["memory MB"] <= 200, f"{ours['memory MB']:.0f} MB"
