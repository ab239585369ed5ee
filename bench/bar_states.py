# SPDX-License-Identifier: Apache-2.0
"""BAR 7: what it costs to know in which state every thread is, at 20,000 switches a second."""
import json
import shutil

import measure

RATE, DEPTH = 20000, 10


class Load:
    """What the load wrote of itself: its CPU time is that of its switches as well."""

    def __init__(self, text):
        wall_s, cpu_s, left, taken = text.split()
        self.wall_s, self.cpu_s, self.left = float(wall_s), float(cpu_s), int(left)
        self.switches = self.left + int(taken)


class Dwell:
    name = "dwell"
    missing = None

    def __init__(self, bench):
        self.dwell = bench.dwell

    def record(self, out, command):
        return [self.dwell, "run", "-q", "-e", "states", "-o", out, "--", *command]

    def waits(self, out):
        """Of those in which a thread left its CPU of itself; and how much was lost."""
        text = measure.text_of([self.dwell, "report", "--json", "--limit", "1", out])
        if not text:
            return None, None
        report = json.loads(text)
        return (next(e["samples"] for e in report["events"] if e["name"] == "io-wait"),
                report["quality"]["lost"])


class PerfSched:
    name = "perf sched record"
    missing = None if shutil.which("perf") else "no perf"

    @staticmethod
    def record(out, command):
        return ["perf", "sched", "record", "-q", "-o", out, "--", *command]

    @staticmethod
    def waits(out):
        del out     # it tells of the whole machine, and of no state but two
        return None, None


class Cost:
    """A tool beside the load alone, in pairs."""

    def __init__(self, bench, tool):
        self.result, self.out = bench.scratch("state.result"), bench.scratch("state.out")
        self.command = [bench.helper("state_load"), RATE, 1 if bench.is_short else 4, DEPTH,
                        bench.scratch("state.work"), self.result]
        self.bench, self.tool = bench, tool
        startup = [self._record(["/bin/true"]).cpu_s for _ in range(3)]
        made = measure.pairs(bench.n_pairs, self._bare, self._beside)
        self.cpu_ratio = measure.median([t.cpu_s / b.cpu_s for b, t in made])
        self.us_per_switch = measure.median([1e6 * (t.cpu_s - b.cpu_s) / t.switches for b, t in made])
        self.rate = measure.median([b.switches / b.wall_s for b, _ in made])
        last = made[-1][1]
        self.tool_pct = measure.median([100 * (t.all_cpu_s - t.cpu_s - measure.median(startup)) / t.cpu_s
                                        for _, t in made])
        waits, self.lost = tool.waits(self.out)
        self.delivered_pct = waits and 100 * waits / last.left
        self.kb_per_s = measure.size_of(self.out) / 1000 / last.wall_s

    def _record(self, command):
        self.bench.remove(self.out)
        return measure.Run(self.tool.record(self.out, command))

    def _bare(self):
        measure.Run(self.command)
        return Load(self.result.read_text(encoding="ascii"))

    def _beside(self):
        run = self._record(self.command)
        load = Load(self.result.read_text(encoding="ascii"))
        load.all_cpu_s = run.cpu_s
        return load


def row_of(bench, tool):
    if tool.missing:
        return {"tool": tool.name, "CPU ratio": tool.missing}
    c = Cost(bench, tool)
    return {"tool": tool.name, "CPU ratio": c.cpu_ratio, "us/switch": c.us_per_switch,
            "tool's CPU %": c.tool_pct, "switches/s": c.rate, "waits told %": c.delivered_pct,
            "lost": c.lost, "KB/s": c.kb_per_s}


class Bar:
    what = "the states of all threads, and who woke them, with stacks"

    def __init__(self, bench):
        self.bench = bench
        self.notes = [f"{bench.n_pairs} pairs of two threads on one CPU that wake each other below {DEPTH} functions",
                      "CPU ratio: of the threads themselves, who pay for what is done at their switches",
                      "tool's CPU: of the collector, less its start-up, of that of the threads"]

    def rows(self):
        return (row_of(self.bench, tool) for tool in (Dwell(self.bench), PerfSched))

    @staticmethod
    def verdicts(rows):
        row = rows[0]
        told = row["waits told %"]
        yield ("cost counts", bool(told) and measure.is_delivered(told) and not row["lost"],
               "99 to 102 % of the waits are told, none is lost")
        yield ("<= 3 % at 20,000 switches a second", row["us/switch"] * RATE / 1e6 <= 0.03,
               f"{row['us/switch']:.2f} us a switch, {100 * row['us/switch'] * RATE / 1e6:.1f} %")
