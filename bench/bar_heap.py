# SPDX-License-Identifier: Apache-2.0
"""BAR 8: what it costs to observe every allocation and every release, with stacks."""
import json
import re
import shutil

import measure

# The bar is set where heaptrack takes 4.3 times as long: 2.5 times, and no more of it elsewhere.
SHARE_OF_HEAPTRACK = 2.5 / 4.3
US_PER_EVENT = 0.06
SAMPLED_RATIO = 1.03


class Dwell:
    name = "dwell heap"

    def __init__(self, bench):
        self.dwell, self.out = bench.dwell, bench.scratch("heap.dwell")

    def record(self, command):
        return [self.dwell, "run", "-q", "-e", "heap", "-o", self.out, "--", *command]

    def counted(self, _):
        """(allocations, events lost) of a program"""
        report = json.loads(measure.text_of([self.dwell, "heap", "--json", self.out]) or "{}")
        lost = sum(f["value"] for f in report["quality"]["facts"] if f["name"] == "lost-events")
        return report["processes"][0]["heap-allocations"], lost


class Sampled(Dwell):
    """As in production: nobody else does it by bytes."""
    name = "dwell heap --sample 512k"

    def record(self, command):
        return [self.dwell, "run", "-q", "-e", "heap", "--sample", "512k", "-o", self.out, "--", *command]


class Heaptrack:
    name = "heaptrack"

    def __init__(self, bench):
        self.out = bench.scratch("heaptrack")

    def record(self, command):
        return ["heaptrack", "-o", self.out, *command]

    def counted(self, program):
        """Its library brings libstdc++ into programs that have none, which takes a pool when it is loaded: that
        block is the tool's."""
        text = measure.text_of(["heaptrack_print", "-f", f"{self.out}.zst"])
        found = re.search(r"^calls to allocation functions: (\d+)", text, re.MULTILINE)
        brought = "libstdc++" not in measure.text_of(["ldd", program])
        return (int(found[1]) - brought if found else None), None


def row_of(bench, tool, workload, command):
    """The tool's runs beside the program's own."""
    row = {"tool": tool.name, "workload": workload}
    program = shutil.which(str(tool.record(command)[0]))
    if not program:
        return {**row, "wall ratio": f"no {tool.name} here"}
    made = measure.pairs(bench.n_pairs, lambda: measure.Run(command), lambda: measure.Run(tool.record(command)))
    n, lost = tool.counted(command[0])
    return {
        **row,
        "wall ratio": measure.median([t.wall_s / b.wall_s for b, t in made]),
        "CPU ratio": measure.median([t.cpu_s / b.cpu_s for b, t in made]),
        # Nearly every allocation has its release.
        "wall us/event": measure.median([1e6 * (t.wall_s - b.wall_s) / (2 * n) for b, t in made]) if n else None,
        "CPU us/event": measure.median([1e6 * (t.cpu_s - b.cpu_s) / (2 * n) for b, t in made]) if n else None,
        "allocations": n,
        "lost": lost,
    }


class Bar:
    what = "every allocation and release, with stacks"

    def __init__(self, bench):
        self.bench = bench
        n = (400000, 2000000) if bench.is_short else (3000000, 10000000)
        self.commands = {"churn": [bench.workload("churn"), n[0]], "heap": [bench.workload("heap"), n[1]]}
        self.notes = [f"{bench.n_pairs} pairs of `churn {n[0]}` and `heap {n[1]}`, which do nothing but allocate; "
                      "CPU time is that of program and tool; of heaptrack's allocations the pool of the libstdc++ that it "
                      "brings into `heap` is left out"]

    def rows(self):
        for workload, command in self.commands.items():
            for tool in (Dwell(self.bench), Sampled(self.bench), Heaptrack(self.bench)):
                yield row_of(self.bench, tool, workload, command)

    @staticmethod
    def verdicts(rows):
        by = {(row["tool"], row["workload"]): row for row in rows}
        for (tool, workload), row in by.items():
            if tool == Sampled.name and workload == "churn":
                yield (f"{workload}, sampled: <= {SAMPLED_RATIO} times", row["CPU ratio"] <= SAMPLED_RATIO,
                       f"{row['CPU ratio']:.3f} times the program's CPU time, the recorder's included")
            if tool != Dwell.name:
                continue
            yield (f"{workload}: <= {US_PER_EVENT} us an event", row["wall us/event"] <= US_PER_EVENT,
                   f"{row['wall us/event']:.3f} us of wall, {row['CPU us/event']:.3f} us of CPU time")
            yield (f"{workload}: nothing is lost", row["lost"] == 0, f"{row['lost']} events")
            peer = by[Heaptrack.name, workload]
            if peer.get("allocations"):
                share = row["wall ratio"] / peer["wall ratio"]
                yield (f"{workload}: <= {SHARE_OF_HEAPTRACK:.2f} of heaptrack's time", share <= SHARE_OF_HEAPTRACK,
                       f"{row['wall ratio']:.2f} and {peer['wall ratio']:.2f} times the program's: {share:.2f}")
                yield (f"{workload}: the same is counted", row["allocations"] == peer["allocations"],
                       f"{row['allocations']} and {peer['allocations']} allocations")
