# SPDX-License-Identifier: Apache-2.0
"""BAR 9: what a lock that is free costs more where waits are observed; and a wait, by the kernel's side."""
import shutil

import measure

NS_PER_PAIR = 3


class Dwell:
    name = "dwell sync"

    def __init__(self, bench):
        self.dwell, self.out = bench.dwell, bench.scratch("sync.dwell")

    def record(self, command):
        return [self.dwell, "run", "-q", "-e", "sync", "-o", self.out, "--", *command]


class Futex:
    name = "dwell sync --source futex"

    def __init__(self, bench):
        self.dwell, self.out = bench.dwell, bench.scratch("futex.dwell")

    def record(self, command):
        return [self.dwell, "run", "-q", "-e", "sync", "--source", "futex", "-o", self.out, "--", *command]


class Strace:
    name = "strace -e futex"

    def __init__(self, bench):
        self.out = bench.scratch("sync.strace")

    def record(self, command):
        return ["strace", "-f", "--seccomp-bpf", "-e", "trace=futex", "-o", self.out, *command]


class Gprofng:
    name = "gprofng -s on"

    def __init__(self, bench):
        self.bench, self.out = bench, bench.scratch("sync.er")

    def record(self, command):
        self.bench.remove(self.out)
        return ["gprofng", "collect", "app", "-p", "off", "-s", "on", "-O", self.out, *command]


def ns_of(words):
    """What the program says of itself, among what its tool says."""
    lines = [line for line in measure.text_of(words).split() if line.replace(".", "", 1).isdigit()]
    return float(lines[-1]) if lines else None


def more_of(bench, tool, command):
    """Pairs of (the program's own, with the tool), in turns."""
    made = []
    for i in range(bench.n_pairs):
        words = [command, tool.record(command)]
        got = [ns_of(w) for w in (words if i % 2 else reversed(words))]
        made.append(got if i % 2 else got[::-1])
    return [(base, with_tool) for base, with_tool in made if base and with_tool]


class Bar:
    what = "a lock that is free"

    def __init__(self, bench):
        self.bench = bench
        n, rounds = (100000, 30) if bench.is_short else (100000, 200)
        n_waits = n // 20
        locks, waits = bench.helper("lock_pairs"), bench.helper("wait_pairs")
        wrapped, seen = (Dwell(bench), Gprofng(bench)), (Futex(bench), Strace(bench))
        self.commands = [("of two threads", [locks, n, rounds], wrapped),
                         ("of one thread", [locks, n, rounds, "alone"], wrapped),
                         ("a wait and its wake-up", [waits, n_waits, 10], seen),
                         ("another call", [waits, n_waits, 10, "calls"], seen)]
        self.notes = [f"the least of {rounds} rounds of {n} pairs of lock and unlock, or of 10 of {n_waits} waits or calls, "
                      f"by the program's own clock; {bench.n_pairs} pairs of runs"]

    def rows(self):
        for process, command, tools in self.commands:
            for tool in tools:
                row = {"tool": tool.name, "process": process}
                if not shutil.which(str(tool.record(command)[0])):
                    yield {**row, "ns more": f"no {tool.name} here"}
                    continue
                made = more_of(self.bench, tool, command)
                yield {**row, "ns": measure.median([base for base, _ in made]),
                       "ns more": measure.median([t - base for base, t in made])}

    @staticmethod
    def verdicts(rows):
        for row in rows:
            if row["tool"] == Dwell.name and row.get("ns more") is not None:
                yield (f"{row['process']}: <= {NS_PER_PAIR} ns a pair", row["ns more"] <= NS_PER_PAIR,
                       f"{row['ns more']:.1f} ns more than {row['ns']:.1f}")
