# SPDX-License-Identifier: Apache-2.0
"""BAR 1: what it costs to sample a program at 1 kHz with complete user stacks."""
import measure
import truth

INTERVAL_US = 1000
# The same at ten times the rate: there the cost of a sample stands out of the noise.
FAST_INTERVAL_US = 100


class Cost:
    """A tool beside the bare program, in pairs."""

    def __init__(self, bench, tool, interval_us):
        self.bench, self.tool, self.interval_us = bench, tool, interval_us
        self.out = bench.scratch("sampling" + tool.suffix)
        command = bench.with_usage("cpu")
        startup = measure.pairs(bench.n_pairs, lambda: measure.Run(["/bin/true"]),
                                lambda: self._record(["/bin/true"]))
        self.startup_cpu_s = max(measure.median([t.cpu_s - b.cpu_s for b, t in startup]), 0)
        self.startup_ms = 1000 * measure.median([t.wall_s - b.wall_s for b, t in startup])
        made = measure.pairs(bench.n_pairs, lambda: measure.Run(command), lambda: self._record(command))
        self.cpu_ratio = measure.median([(t.cpu_s - self.startup_cpu_s) / b.cpu_s for b, t in made])
        self.wall_ratio = measure.median([t.wall_s / b.wall_s for b, t in made])
        self.extra_cpu_s = measure.median([t.cpu_s - self.startup_cpu_s - b.cpu_s for b, t in made])
        self._record(command)       # the one that is read
        self.target_cpu_s, self.target_wall_s = bench.usage()
        self.bytes = measure.size_of(self.out)
        self.samples, self.lost = tool.samples(self.out)

    def _record(self, command):
        self.bench.remove(self.out)
        return measure.Run(self.tool.record(self.out, self.interval_us, command))

    def delivered_pct(self):
        """Samples taken of those that the target's CPU time asks for."""
        if not self.samples:
            return None
        return 100 * self.samples * self.interval_us / 1e6 / self.target_cpu_s

    def us_per_sample(self):
        return 1e6 * self.extra_cpu_s / self.samples if self.samples else None


def floor_us(bench):
    """The empty event, per interrupt; None where perf_event_open is not allowed."""
    empty = bench.helper("empty_event")
    command = bench.with_usage("cpu")
    if measure.Run([empty, "1000000", "/bin/true"]).code != 0:
        return None
    made = measure.pairs(bench.n_pairs, lambda: measure.Run(command),
                         lambda: measure.Run([empty, FAST_INTERVAL_US * 1000, *command]))
    return 1e6 * measure.median([(t.cpu_s - b.cpu_s) / (t.cpu_s * 1e6 / FAST_INTERVAL_US) for b, t in made])


def row_of(bench, tool):
    if tool.missing:
        return {"tool": tool.name, "CPU ratio": tool.missing}
    slow = Cost(bench, tool, INTERVAL_US)
    exclusive, inclusive = truth.deviation(tool.answer(slow.out))
    fast = Cost(bench, tool, FAST_INTERVAL_US)
    return {
        "tool": tool.name,
        "CPU ratio": slow.cpu_ratio,
        "wall ratio": slow.wall_ratio,
        "us/sample": fast.us_per_sample(),
        "start-up ms": slow.startup_ms,
        "KB/s": slow.bytes / 1000 / slow.target_wall_s,
        "delivered %": slow.delivered_pct(),
        "fast delivered %": fast.delivered_pct(),
        "lost": slow.lost,
        "excl. off (points)": exclusive,
        "incl. off (points)": inclusive,
    }


class Bar:
    what = "sampling a program of -O2 code without frame pointers at 1 kHz, with stacks"

    def __init__(self, bench):
        self.bench, self.floor = bench, floor_us(bench)
        floor = "no measure: perf_event_open is not allowed" if self.floor is None else f"{self.floor:.2f} us"
        self.notes = [f"{bench.n_pairs} pairs of `cpu {bench.rounds}`; CPU of tool and target less the tool's start-up",
                      f"us/sample: at {INTERVAL_US // FAST_INTERVAL_US} times the rate; the floor, an event nobody "
                      f"reads, takes {floor}",
                      "off: largest difference from the known shares; a missing caller counts in full"]

    def rows(self):
        return (row_of(self.bench, tool) for tool in self.bench.tools)

    def verdicts(self, rows):
        row = rows[0]
        if row.get("delivered %") is None:
            yield "dwell", None, "no samples"
            return
        above = row["us/sample"] - (self.floor or 0)
        counts = measure.is_delivered(row["delivered %"]) and row["lost"] == 0 and row["incl. off (points)"] <= 1
        yield "cost counts", counts, "delivers 99 to 102 %, loses nothing, within 1 point of the truth"
        yield "CPU <= 1.01, or <= 4 us a sample above the floor", row["CPU ratio"] <= 1.01 or above <= 4, \
            f"{row['CPU ratio']:.3f}, {above:.2f} us"
        yield "< 20 KB/s", row["KB/s"] < 20, f"{row['KB/s']:.1f}"
        yield "start-up <= 30 ms", row["start-up ms"] <= 30, f"{row['start-up ms']:.1f}"
