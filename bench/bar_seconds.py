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
        used, reported = bench.usage()[0], tool.answer(out).seconds
        ratios.append(reported / used)
        gaps.append(abs(reported - used) / (interval_us / 1e6) / WORKLOADS[workload])
    return {**row, "reported / used": measure.median(ratios), "worst %": max(100 * abs(r - 1) for r in ratios),
            "gap, intervals/thread": measure.median(gaps)}


def run(bench):
    rows = [row_of(bench, tool, workload, interval_us) for workload in WORKLOADS
            for interval_us in INTERVALS_US for tool in bench.tools]
    ours = [r for r in rows if r["tool"].startswith("dwell")]
    is_right = [r["gap, intervals/thread"] <= 1 or abs(r["reported / used"] - 1) <= 0.01 for r in ours]
    worst = max(abs(r["reported / used"] - 1) for r in ours)
    return {
        "bar": 2,
        "what": "CPU seconds reported beside the seconds used (rusage of the program itself)",
        "notes": [f"medians of {bench.n_pairs} runs each; cpu has one thread, mt five"],
        "rows": rows,
        "verdicts": [("within 1 % or one interval a thread", all(is_right), f"worst median {100 * worst:.2f} %")],
    }
