# SPDX-License-Identifier: Apache-2.0
"""BAR 16: how often blocks and ways are executed, as samples alone tell, beside exact counts."""
import collections
import json
import re
import subprocess

import bar_blocks
import measure

NEAR = (.05, .10, .15)
BARS = {.05: 40, .10: 60, .15: 70}  # per cent of the samples
LEAST = .002  # of a program's time: functions with less count as not known
PAIR_INTERVAL = "1ms"
STEP, LAST = 5, 45  # of the histograms, per cent
CONFIDENCES = ("high", "medium", "low")

# The constants of analyze/frequency.c were chosen with the first list.  The second one is for their verdict.
TUNE = ("fib", "nq", "interp", "fp", "bzip2", "xz", "awk", "gzip", "sort")
HELD = ("bzip2 -d", "zstd", "sqlite3", "perl", "python3", "cc1", "openssl")


def programs(bench):
    more = [
        bar_blocks.Program("gzip", lambda n: ["gzip", "-c", bench.text(n)], 30_000_000),
        bar_blocks.Program("sort", lambda n: ["sort", "--parallel=1", "-S", "200M", bench.text(n)], 30_000_000),
        bar_blocks.Program("openssl", lambda n: ["openssl", "dgst", "-sha512", bench.text(n)], 300_000_000),
    ]
    return {p.name: p for p in [*bar_blocks.programs(bench), *more]}


class Found:
    """Weights by how far an estimate is from the truth, as a ratio; None: there is no estimate."""

    def __init__(self):
        self.rows = []  # weight, ratio, confidence, whether the truth is in the range

    def add(self, weight, true, estimate):
        times = estimate.get("times")
        if times is None or not true:
            self.rows.append((weight, None, None, False))
            return
        self.rows.append((weight, times / true, estimate["confidence"], estimate["times_low"] <= true <= estimate["times_high"]))

    def share(self, test, among=lambda row: True):
        rows = [row for row in self.rows if among(row)]
        return 100 * sum(row[0] for row in rows if test(row)) / max(sum(row[0] for row in rows), 1e-9)

    def near(self, limit, among=lambda row: True):
        return self.share(lambda row: row[1] is not None and abs(row[1] - 1) <= limit, among)

    def within(self, factor):
        return self.share(lambda row: row[1] is not None and 1 / factor <= row[1] <= factor)

    def histogram(self):
        """Per cent of the weight in each bucket of STEP per cent; the first and last ones are for all beyond, -1: no estimate."""
        buckets = collections.Counter()
        for weight, ratio, *_ in self.rows:
            off = None if ratio is None else 100 * (ratio - 1)
            buckets["none" if off is None else max(-LAST - STEP, min(LAST, int(off // STEP) * STEP))] += weight
        whole = max(sum(buckets.values()), 1e-9)
        return {name: 100 * n / whole for name, n in buckets.items()}


def bars_of(histograms, title):
    """The mean of several histograms as lines of text."""
    def line(name, share):
        return f"{name:>14} {share:5.1f} % {'#' * round(share)}"
    mean = collections.Counter()
    for h in histograms:
        for name, share in h.items():
            mean[name] += share / len(histograms)
    yield title
    for low in range(-LAST - STEP, LAST + 1, STEP):
        name = f"below {-LAST} %" if low < -LAST else f"above {LAST} %" if low >= LAST else f"{low}…{low + STEP} %"
        yield line(name, mean[low])
    yield line("no estimate", mean["none"])


def instructions(row):
    """Executed in a function."""
    return sum(b.get("times", 0) * len(b["instructions"]) for b in row["blocks"])


class Bar:
    what = "how often blocks and ways are executed, from samples alone"

    def __init__(self, bench):
        self.bench = bench
        self.names = HELD if bench.held else TUNE
        self.histograms = {n: [] for n in bench.runs}
        runs = "one run" if bench.runs == [1] else f"runs, added up: {', '.join(map(str, bench.runs))}"
        paired = f"; paired cost: CPU time beyond recordings without, median of {bench.n_pairs} pairs" if bench.n_pairs else ""
        anchors = [f"with anchors for {bench.anchors} % of CPU time; of high right: of what is told with high confidence, within 10 %{paired}"] if bench.anchors else []
        self.notes = [*anchors,
                      f"programs {'held back' if bench.held else 'that constants were chosen with'}; a sample each {bench.interval} of CPU time, {runs}",
                      "per cent of the samples in blocks whose estimate is off by no more than that; edges: of all executions of ways",
                      "scaled: the same as a counter of instructions would scale them, whose number in each function is the true one;",
                      "in range: the truth is in what is printed",
                      f"what has no estimate, or is in functions with less than {100 * LEAST:.1f} % of the time, counts as wrong"]

    def run(self, path, words, command):
        return measure.Run([self.bench.dwell, "run", "-q", *words, "-o", path, "--", *command])

    def sample(self, path, command, anchors, interval):
        return self.run(path, ["--insn", "-e", f"usertime,anchors:{anchors}%" if anchors else "usertime", "-i", interval], command)

    def cost(self, path):
        """Windows of exact counts, and per cent of CPU time that all of that took, as the recorder has it."""
        p = subprocess.run([self.bench.dwell, "cat", "--section", "facts", path], capture_output=True, text=True, check=True)
        facts = {name: int(value) for name, value in re.findall(r'name="([\w-]+)" value=(\d+)', p.stdout)}
        cpu_ns = facts.get("user-time", 0) + facts.get("system-time", 0)
        return {"windows": facts.get("windows", 0), "cost %": 100 * facts.get("windows-cost", 0) / max(cpu_ns, 1)}

    def paired_cost(self, command):
        """Per cent of CPU time, of program and recorder, beyond that of a recording without anchors.

        With few samples: none are taken in windows, and what these would have cost is not saved by anchors."""
        if not self.bench.n_pairs:
            return {}
        path = self.bench.scratch("pair.dwell")
        made = measure.pairs(self.bench.n_pairs, lambda: self.sample(path, command, 0, PAIR_INTERVAL),
                             lambda: self.sample(path, command, self.bench.anchors, PAIR_INTERVAL))
        return {"paired cost %": measure.median([100 * (t.cpu_s / b.cpu_s - 1) for b, t in made])}

    @staticmethod
    def keep(path, record):
        """One that was interrupted is not taken for a recording the next time."""
        if not path.exists():
            unfinished = path.with_name("unfinished.dwell")
            unfinished.unlink(missing_ok=True)
            record(unfinished)
            unfinished.rename(path)

    def record(self, name, command):
        """What is kept of an earlier time is taken as it is."""
        directory = self.bench.kept(name)
        counted = directory / "counted.dwell"
        self.keep(counted, lambda path: self.run(path, ["-e", "bbcounts"], command))
        sampled = [directory / f"sampled-{i}.dwell" for i in range(max(self.bench.runs))]
        for path in sampled:
            self.keep(path, lambda new: self.sample(new, command, self.bench.anchors, self.bench.interval))
        return counted, sampled

    def calc(self, name, *paths):
        p = subprocess.run([self.bench.dwell, "calc", "--json", name, *paths], capture_output=True, text=True, check=False)
        return json.loads(p.stdout)["rows"][0] if p.returncode == 0 else None

    def functions(self, path):
        p = subprocess.run([self.bench.dwell, "report", "--json", "--no-inline", "--limit", "0", path], capture_output=True, text=True, check=True)
        rows = [(r["name"], r["exclusive"]["cpu-time"]) for r in json.loads(p.stdout)["rows"] if r.get("image") != "[kernel]"]
        return rows, sum(weight for _, weight in rows)

    def compare(self, name, counted, sampled, blocks, ways, scaled_ways):
        """One function; its blocks and ways are added.  Its blocks as a counter would scale them."""
        truth, estimate = self.calc(name, sampled[0], counted), self.calc(name, *sampled)
        if not truth or not estimate or "times" not in truth:
            return None
        own, factor = Found(), instructions(truth) * len(sampled) / max(instructions(estimate), 1e-9)
        for a, b in zip(truth["blocks"], estimate["blocks"]):
            if b["samples"]:
                own.add(b["samples"], a["times"] * len(sampled), b)
            for w, x in zip(a["ways"], b["ways"]):
                if w["times"]:
                    ways.add(w["times"], w["times"] * len(sampled), x)
                    scaled_ways.add(w["times"], w["times"] * len(sampled), {**x, "times": x["times"] * factor} if "times" in x else x)
        blocks.rows += own.rows
        return [(row[0], row[1] and row[1] * factor, *row[2:]) for row in own.rows]

    def anchored(self, blocks, path, paired_cost):
        if not self.bench.anchors:
            return {}
        high = [row for row in blocks.rows if row[2] == "high"]
        right = blocks.near(.10, lambda row: row[2] == "high") if high else None
        return {"of high right": right, **self.cost(path), **paired_cost}

    def rows_of(self, program):
        """One for each number of runs."""
        command = program.command(self.bench.share)
        if not command:
            yield {"program": program.name, "runs": 0, "samples": "missing"}
            return
        counted, sampled = self.record(program.name, command)
        paired_cost = self.paired_cost(command) if self.bench.anchors else {}
        for n in self.bench.runs:
            yield self.row_of(program, paired_cost, counted, sampled[:n])

    def row_of(self, program, paired_cost, counted, sampled):
        functions, total = self.functions(sampled[0])
        blocks, ways, scaled, scaled_ways, known = Found(), Found(), Found(), Found(), 0
        for name, weight in functions:
            rows = self.compare(name, counted, sampled, blocks, ways, scaled_ways) if weight >= LEAST * total else None
            if rows is not None:
                scaled.rows += rows
                known += weight / total
        n = sum(row[0] for row in blocks.rows)
        rest = max(0, n / max(known, 1e-9) - n)
        blocks.rows.append((rest, None, None, False))
        scaled.rows.append((rest, None, None, False))
        self.histograms[len(sampled)].append((blocks.histogram(), ways.histogram()))
        return {"program": program.name, "runs": len(sampled), "samples": round(n), **{f"≤ {100 * limit:.0f} %": blocks.near(limit) for limit in NEAR}, "x2": blocks.within(2),
                "edges ≤ 10 %": ways.near(.10), **{f"scaled ≤ {100 * limit:.0f} %": scaled.near(limit) for limit in NEAR},
                "scaled edges": scaled_ways.near(.10),
                "in range": blocks.share(lambda row: row[3]), **{f"{c}": blocks.share(lambda row, c=c: row[2] == c) for c in CONFIDENCES},
                **self.anchored(blocks, sampled[0], paired_cost)}

    def rows(self):
        all_programs, rows = programs(self.bench), []
        for name in self.names:
            if self.bench.wanted and name not in self.bench.wanted:
                continue
            for row in self.rows_of(all_programs[name]):
                rows.append(row)
                yield row
        for n in self.bench.runs:
            whole = [row for row in rows if row["runs"] == n]
            if whole:
                columns = [key for key in whole[0] if key not in ("program", "runs", "samples")]
                values = {key: [row[key] for row in whole if row[key] is not None] for key in columns}
                yield {"program": "mean", "runs": n, **{key: sum(v) / len(v) if v else None for key, v in values.items()}}

    def after(self):
        """Figures 8 and 9 of DCPI, as text."""
        for n, histograms in self.histograms.items():
            if histograms:
                runs = "one run" if n == 1 else f"{n} runs"
                yield from bars_of([h[0] for h in histograms], f"Errors of blocks in {runs}, per cent of samples")
                yield from bars_of([h[1] for h in histograms], f"Errors of ways in {runs}, per cent of executions")

    @staticmethod
    def verdicts(rows):
        mean = rows[-1] if rows and rows[-1]["program"] == "mean" else None
        for limit, bar in BARS.items():
            value = mean and mean[f"≤ {100 * limit:.0f} %"]
            yield f"off by ≤ {100 * limit:.0f} %, {bar} %", value is not None and value >= bar, f"{value:.0f} %" if mean else "not measured"
        value = mean and mean["high"]
        yield "high confidence for ≥ 40 %", value is not None and value >= 40, f"{value:.0f} %" if mean else "not measured"
