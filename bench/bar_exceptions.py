# SPDX-License-Identifier: Apache-2.0
"""BAR 11: what a floating-point exception costs that is observed with its stack."""
import json

import measure

US_PER_EXCEPTION = 2.1
# Up to so many a second a program is to be slowed by no more than that share.
PER_SECOND, SLOWER = 70000, 1.15


class Bar:
    what = "every floating-point exception, with stacks"

    def __init__(self, bench):
        self.bench = bench
        self.out = bench.scratch("fpe.dwell")
        self.n = 100000 if bench.is_short else 500000
        self.notes = [f"{bench.n_pairs} pairs of `fpetest {self.n}`, which divides by zero; CPU time is that of program "
                      "and recorder"]

    def command(self, work):
        return [self.bench.workload("fpetest"), self.n, work]

    def record(self, work):
        return [self.bench.dwell, "run", "-q", "-e", "fpe", "-o", self.out, "--", *self.command(work)]

    def work_of(self, per_second):
        """Turns of the loop between two exceptions so that there are so many a second."""
        turns = 20000
        seconds = min(measure.Run(self.command(turns)).cpu_s for _ in range(3)) / self.n
        return round(turns / seconds / per_second)

    def row(self, name, work):
        made = measure.pairs(self.bench.n_pairs, lambda: measure.Run(self.command(work)),
                             lambda: measure.Run(self.record(work)))
        report = json.loads(measure.text_of([self.bench.dwell, "fpe", "--json", self.out]) or "{}")
        counted = {r["name"]: r["exceptions"] for r in report["rows"]}
        return {
            "exceptions": name,
            "a second": round(measure.median([self.n / b.wall_s for b, _ in made])),
            "wall ratio": measure.median([t.wall_s / b.wall_s for b, t in made]),
            "CPU ratio": measure.median([t.cpu_s / b.cpu_s for b, t in made]),
            "CPU us each": measure.median([1e6 * (t.cpu_s - b.cpu_s) / self.n for b, t in made]),
            "counted": counted.get("time_divisions"),
        }

    def rows(self):
        yield self.row("nothing else", 0)
        yield self.row(f"{PER_SECOND} a second", self.work_of(PER_SECOND))

    def verdicts(self, rows):
        dense, sparse = rows
        yield (f"<= {US_PER_EXCEPTION} us each", dense["CPU us each"] <= US_PER_EXCEPTION,
               f"{dense['CPU us each']:.2f} us of CPU time, recorder included")
        yield (f"<= {SLOWER} of the time at {PER_SECOND} a second", sparse["CPU ratio"] <= SLOWER,
               f"{sparse['CPU ratio']:.3f} of CPU time, {sparse['wall ratio']:.3f} of wall time")
        for row in rows:
            yield ("every one is counted", row["counted"] == self.n, f"{row['counted']} of {self.n}")
