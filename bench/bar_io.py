# SPDX-License-Identifier: Apache-2.0
"""BAR 10: what it costs to observe every call that reads, writes or opens."""
import json
import os
import re
import shutil

import measure

# Without stacks, and with those that are walked in the kernel.
US_PER_CALL = 0.35
US_PER_STACK = 0.6


class Dwell:
    name = "dwell io (stacks)"
    share = 2.85 / 3.1  # fstat() is none of its calls
    part = 1  # of the calls, so that who takes some hundred times as long ends as soon
    options = ()

    def __init__(self, bench):
        self.dwell, self.out = bench.dwell, bench.scratch("io.dwell")

    def record(self, command):
        return [self.dwell, "run", "-q", "-e", "io", *self.options, "-o", self.out, "--", *command]

    def counted(self):
        text = measure.text_of([self.dwell, "io", "--json", "--by", "call", self.out])
        return sum(row["calls"] for row in json.loads(text or '{"rows": []}')["rows"])


class DwellFlat(Dwell):
    name = "dwell io --flat"
    options = ("--flat",)


class DwellWrapped(Dwell):
    name = "dwell io --source tracer (stacks)"
    share = 2.75 / 3.1  # nor is what stdio writes seen
    options = ("--source", "tracer")


class Strace:
    name = "strace -f"
    share = 1
    part = 0.1

    def __init__(self, bench):
        self.out = bench.scratch("strace")

    def record(self, command):
        return ["strace", "-f", "-e", "trace=desc,file", "-o", self.out, *command]

    def counted(self):
        with open(self.out, encoding="latin-1") as lines:
            return sum(1 for line in lines if re.match(r"\d+ +\w+\(", line))


class PerfTrace:
    name = "perf trace -s"
    share = 1
    part = 0.1

    def __init__(self, bench):
        self.out = bench.scratch("perf-trace")

    def record(self, command):
        return ["perf", "trace", "-s", "-o", self.out, *command]

    def counted(self):
        with open(self.out, encoding="latin-1") as lines:
            return sum(int(m[1]) for m in map(re.compile(r" +[a-z_0-9]+ +(\d+) +\d").match, lines) if m)


def seconds(bench, command, tool):
    """Of wall and of CPU, of program and tool, beyond the program's own; (wall, CPU, the program's wall)"""
    made = measure.pairs(bench.n_pairs, lambda: measure.Run(command), lambda: measure.Run(tool.record(command)))
    return (measure.median([t.wall_s - b.wall_s for b, t in made]), measure.median([t.cpu_s - b.cpu_s for b, t in made]),
            measure.median([b.wall_s for b, _ in made]))


class Bar:
    what = "every call that reads, writes or opens"

    def __init__(self, bench):
        self.bench, self.n = bench, 40000 if bench.is_short else 400000
        self.notes = [f"{bench.n_pairs} pairs of `io {self.n}`, which does nothing else, less what `io 10` takes; "
                      "CPU time is that of program and tool; other tools have a tenth of it"]

    def row_of(self, tool):
        row = {"tool": tool.name}
        if not shutil.which(os.fspath(tool.record([])[0])):
            return {**row, "wall us/call": f"no {tool.name} here"}
        io = self.bench.workload("io")
        start = seconds(self.bench, [io, 10], tool)
        n = round(self.n * tool.part)
        wall, cpu, alone = seconds(self.bench, [io, n], tool)
        # Writes, reads, four calls for each fourth, a write for each tenth.
        n_calls = 3.1 * n
        return {**row, "wall us/call": 1e6 * (wall - start[0]) / n_calls,
                "CPU us/call": 1e6 * (cpu - start[1]) / n_calls,
                "alone us/call": 1e6 * (alone - start[2]) / n_calls,
                "start s": start[0], "counted/made": tool.counted() / (tool.share * n_calls)}

    def rows(self):
        for kind in (Dwell, DwellFlat, DwellWrapped, PerfTrace, Strace):
            yield self.row_of(kind(self.bench))

    @staticmethod
    def verdicts(rows):
        by = {row["tool"]: row for row in rows}
        own = by[Dwell.name]
        for row, limit in ((by[DwellFlat.name], US_PER_CALL), (own, US_PER_STACK),
                           (by[DwellWrapped.name], US_PER_STACK)):
            yield (f"{row['tool']}: <= {limit} us a call", row["wall us/call"] <= limit,
                   f"{row['wall us/call']:.2f} us of wall, {row['CPU us/call']:.2f} us of CPU time")
            yield (f"{row['tool']}: every call is counted", 1 <= row["counted/made"] < 1.01,
                   f"{row['counted/made']:.4f} of those that were made")
        for name in (PerfTrace.name, Strace.name):
            if "counted/made" in by[name]:
                yield (f"less than {name} takes", own["wall us/call"] < by[name]["wall us/call"],
                       f"{own['wall us/call']:.2f} and {by[name]['wall us/call']:.2f} us")
