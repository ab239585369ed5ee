# SPDX-License-Identifier: Apache-2.0
"""BAR 13: what it costs to follow a child process."""
import re

import measure
import truth

INTERVAL_US = 1000


def processes_seen(tool, out):
    """Where the tool can say it."""
    if tool.name.startswith("dwell"):
        text = measure.text_of([tool.dwell, "cat", "--section", "processes", out])
        return len(set(re.findall(r"^process \d+ pid=(\d+)", text, re.MULTILINE)))     # exec adds lines
    if tool.name.startswith("perf"):
        # Every fork makes one; the first process is not forked under the event.
        stats = measure.text_of(["perf", "report", "--stats", "-i", out])
        found = re.search(r"FORK events:\s+(\d+)", stats)
        return int(found[1]) + 1 if found else None
    return None


class Slope:
    """What each further process costs: two lengths of the run, so that start-up cancels."""

    def __init__(self, bench, tool):
        self.bench, self.tool = bench, tool
        self.out = bench.scratch("follow" + tool.suffix)
        long, short = bench.n_forks, bench.n_forks // 4
        self.n = truth.forky_processes(long) - truth.forky_processes(short)
        script = bench.source / "tests/workloads/forky.sh"
        self.shorts = measure.pairs(bench.n_pairs, *self._runs([script, short]))
        self.longs = measure.pairs(bench.n_pairs, *self._runs([script, long]))

    def _runs(self, command):
        def record():
            self.bench.remove(self.out)
            return measure.Run(self.tool.record(self.out, INTERVAL_US, command))

        return lambda: measure.Run(command), record

    def ms(self, of):
        """Medians over the pairs of extra time, long less short, per process."""
        extra = [measure.median([of(t) - of(b) for b, t in made]) for made in (self.shorts, self.longs)]
        return 1000 * (extra[1] - extra[0]) / self.n

    def ratio(self, of):
        return measure.median([of(t) / of(b) for b, t in self.longs])


def row_of(bench, tool):
    if tool.missing:
        return {"tool": tool.name, "CPU ratio": tool.missing}
    slope, n = Slope(bench, tool), truth.forky_processes(bench.n_forks)
    return {
        "tool": tool.name,
        "CPU ratio": slope.ratio(lambda r: r.cpu_s),
        "wall ratio": slope.ratio(lambda r: r.wall_s),
        "CPU ms/process": slope.ms(lambda r: r.cpu_s),
        "wall ms/process": slope.ms(lambda r: r.wall_s),
        "KB/process": measure.size_of(slope.out) / 1000 / n,
        "processes": processes_seen(tool, slope.out),
        "of": n,
    }


class Bar:
    what = "following child processes while sampling at 1 kHz"

    def __init__(self, bench):
        self.bench = bench
        self.notes = [f"{bench.n_pairs} pairs of `forky.sh {bench.n_forks}`; a process: the difference to a quarter of it"]

    def rows(self):
        return (row_of(self.bench, tool) for tool in self.bench.tools)

    @staticmethod
    def verdicts(rows):
        for row in rows:
            if not row["tool"].startswith("dwell"):
                continue
            yield (f"{row['tool']}: <= 0.1 ms a process", row["wall ms/process"] <= 0.1,
                   f"{row['wall ms/process']:.3f} ms of wall, {row['CPU ms/process']:.3f} ms of CPU time")
            yield (f"{row['tool']}: all processes are known", row["processes"] == row["of"],
                   f"{row['processes']} of {row['of']}")
