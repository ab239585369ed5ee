# SPDX-License-Identifier: Apache-2.0
"""BAR 2: whether the CPU seconds reported are those that were used."""
import measure

INTERVALS_US = (10007, 1000, 250)
WORKLOADS = {"cpu": 1, "mt": 5}     # and their threads


def row_of(bench, tool, workload, interval_us):
    row = {"tool": tool.name, "program": workload, "interval us": interval_us}
    if tool.missing:
        return {**row, "reported / used": tool.missing}
    out, words = bench.scratch("seconds" + tool.suffix), bench.with_usage(workload)
    ratios, gaps = [], []
    for _ in range(bench.n_pairs):
        bench.remove(out)
        measure.Run(tool.record(out, interval_us, words))
        used, reported = bench.usage()[0], tool.seconds(out)
        ratios.append(reported / used)
        gaps.append(abs(reported - used) / (interval_us / 1e6) / WORKLOADS[workload])
    return {**row, "reported / used": measure.median(ratios), "worst %": max(100 * abs(r - 1) for r in ratios),
            "gap, intervals/thread": measure.median(gaps)}


def is_right(row):
    return row["gap, intervals/thread"] <= 1 or abs(row["reported / used"] - 1) <= 0.01


def verdict(rows):
    wrong = [r for r in rows if not is_right(r)]
    text = "; ".join(f"{r['tool']}, {r['program']} every {r['interval us']:,} us: {r['reported / used']:.3f}, "
                     f"{r['gap, intervals/thread']:.1f} intervals" for r in wrong)
    return "within 1 % or one interval a thread", not wrong, text or f"all {len(rows)} rows"


class Bar:
    what = "CPU seconds reported beside the seconds used (rusage of the program itself)"

    def __init__(self, bench):
        self.bench = bench
        self.notes = [f"medians of {bench.n_pairs} runs each; cpu has one thread, mt five"]

    def rows(self):
        return (row_of(self.bench, tool, workload, interval_us) for workload in WORKLOADS
                for interval_us in INTERVALS_US for tool in self.bench.tools)

    @staticmethod
    def verdicts(rows):
        yield verdict([r for r in rows if r["tool"].startswith("dwell")])
