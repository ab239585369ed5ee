# SPDX-License-Identifier: Apache-2.0
"""BAR 12: what it costs to count basic blocks, ways between them and indirect targets."""
import math
import os
import pathlib
import shutil

import measure

PYTHON = "n = 0\nfor i in range(%d):\n    n += len(str(i * i)) ^ (i & 7)\nprint(n)"
PERL = "my %%h; for my $i (1 .. %d) { $h{$i %% 997} .= chr(65 + $i %% 26); } print scalar(keys %%h)"
SQL = ("create table t(a, b); with recursive c(x) as (select 1 union all select x + 1 from c where x < %d) insert into t select x, x * 7919 %% 10007"
       " from c; create index i on t(b); select count(distinct b), sum(a) from t where b > 100; select sum(length(a || b)) from t;")
AWK = "BEGIN { for (i = 0; i < %d; i++) { n[i %% 1000] += i * 7; s = s substr(\"abc\", i %% 3, 1); if (length(s) > 99) s = \"\" } print n[5] }"


class Program:
    """words(size) makes the command; the sizes are a long run, of about a second, and half of it."""

    def __init__(self, name, words, long, kind="long"):
        self.name, self.words, self.long, self.kind = name, words, long, kind

    def command(self, share=1.0):
        words = [str(word) for word in self.words(max(1, int(self.long * share)))]
        path = shutil.which(words[0])
        return [os.path.realpath(path), *words[1:]] if path else None


def programs(bench):
    def own(name):
        return lambda n: [bench.workload(name), n]

    def packed(*words):
        return lambda n: [*words, bench.text(n)]

    def unpacked(n):
        path = bench.scratch(f"{n}.bz2")
        if not path.exists():
            with open(path, "wb") as f:
                measure.Run(["bzip2", "-c", bench.text(n)], stdout=f)
        return ["bzip2", "-dc", path]

    def compiled(n):
        return [bench.cc1(), "-quiet", "-O1", "-o", "/dev/null", bench.source_text(n)]

    return [
        Program("fib", lambda n: [bench.workload("fib"), round(math.log(n, 1.618))], 230_000_000),
        # A queen more takes some 6.5 times as long.
        Program("nq", lambda n: [bench.workload("nq"), int(math.log(n, 6.5))], round(6.5 ** 13.1)),
        Program("interp", own("interp"), 700_000), Program("fp", own("fp"), 6_000_000),
        Program("bzip2", packed("bzip2", "-c"), 9_000_000), Program("bzip2 -d", unpacked, 20_000_000),
        Program("xz", packed("xz", "-3", "-T1", "-c"), 30_000_000),
        Program("zstd", packed("zstd", "-q", "-12", "--single-thread", "--no-asyncio", "-c"), 120_000_000),
        Program("sqlite3", lambda n: ["sqlite3", ":memory:", SQL % n], 600_000), Program("lua", lambda n: ["lua5.4", "-e", f"local s = 0 for i = 1, {n} do s = s + #tostring(i) end"], 5_000_000),
        Program("perl", lambda n: ["perl", "-e", PERL % n], 6_000_000), Program("python3", lambda n: ["/usr/bin/python3", "-c", PYTHON % n], 3_000_000),
        Program("awk", lambda n: ["mawk", AWK % n], 6_000_000), Program("cc1", compiled, 150),
        Program("xz -T2", packed("xz", "-3", "-T2", "--block-size=1MiB", "-c"), 12_000_000, "threads"),
        Program("pbzip2", packed("pbzip2", "-p2", "-c"), 12_000_000, "threads"),
        Program("true", lambda n: ["/bin/true"], 1, "start"), Program("ls", lambda n: ["ls", "-l", "/usr/bin"], 1, "start"),
    ]


class Tool:
    def __init__(self, name, wrap, missing=None):
        self.name, self.wrap, self.missing = name, wrap, missing


def peers():
    def found(program, *words):
        path = shutil.which(program)
        return (lambda command: [path, *words, *command]), None if path else f"no {program}"
    return [Tool("valgrind none", *found("valgrind", "-q", "--tool=none")),
            Tool("callgrind", *found("valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=/dev/null")),
            Tool("qemu", *found("qemu-x86_64"))]


def engine(bench):
    def wrap(command):
        return [bench.engine, bench.counts() / "of", "-", command[0], command[0], "--", *command]
    return Tool("dwell", wrap)


def slope(longs, halves, which):
    """The further cost of the longer half of the run, to that natively."""
    more = [[which(of) for of in (pair[side] for pair in longs)] for side in (0, 1)]
    less = [[which(of) for of in (pair[side] for pair in halves)] for side in (0, 1)]
    base, tool = (measure.median(more[side]) - measure.median(less[side]) for side in (0, 1))
    return tool / base if base > 0.05 else None


def cpu(run):
    return run.cpu_s


def row_of(bench, program, tools):
    command = program.command()
    row = {"program": program.name, "native s": None, "CPU": None, "wall": None, "steady": None, "more ms": None, **{tool.name: None for tool in tools}}
    if not command:
        return {**row, "native s": "missing"}
    ours = engine(bench)

    def natively(words):
        return lambda: measure.Run(words)

    def in_tool(tool, words):
        return lambda: measure.Run(tool.wrap(words))
    made = measure.pairs(bench.n_pairs, natively(command), in_tool(ours, command))
    bad = [t.code for b, t in made if b.code != t.code]
    if bad:
        return {**row, "native s": f"exit {bad[0]}"}
    row["native s"] = measure.median([b.cpu_s for b, _ in made])
    row["CPU"] = measure.median([t.cpu_s / max(b.cpu_s, 1e-4) for b, t in made])
    row["wall"] = measure.median([t.wall_s / b.wall_s for b, t in made])
    row["more ms"] = 1000 * measure.median([t.wall_s - b.wall_s for b, t in made])
    half = program.command(0.5)
    if program.kind == "long" and half != command:
        row["steady"] = slope(made, measure.pairs(bench.n_pairs, natively(half), in_tool(ours, half)), cpu)
    for tool in tools:
        if not tool.missing:
            runs = measure.pairs(1, natively(command), in_tool(tool, command))
            row[tool.name] = measure.median([t.cpu_s / max(b.cpu_s, 1e-4) for b, t in runs if t.code == b.code])
    return row


def geomean(values):
    values = [v for v in values if v is not None]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


class Bar:
    what = "exact counts of basic blocks, ways and indirect targets"

    def __init__(self, bench):
        self.bench = bench
        self.notes = [f"{bench.n_pairs} pairs each; ratios to the native run of the pair; steady: of what the second half of the run takes",
                      "more ms: wall time beyond the native one; the others: CPU ratio of one pair"]

    def rows(self):
        wanted = [p for p in programs(self.bench) if not self.bench.wanted or p.name in self.bench.wanted]
        tools = peers() if self.bench.has_peers else []
        rows = []
        for program in wanted:
            rows.append({**row_of(self.bench, program, tools), "kind": program.kind})
            yield {name: value for name, value in rows[-1].items() if name != "kind"}
        long = [row for row in rows if row["kind"] == "long" and row["CPU"]]
        yield {**{name: geomean([row[name] for row in long]) for name in ["CPU", "wall", "steady", *(tool.name for tool in tools)]},
               "program": "geomean", "native s": None, "more ms": None}

    @staticmethod
    def verdicts(rows):
        *each, mean = rows
        long = [row for row in each if row["CPU"] and row["native s"] > 0.1 and row["program"] not in ("xz -T2", "pbzip2")]
        if mean["steady"]:
            yield "steady <= 1.4", mean["steady"] <= 1.4, f"{mean['steady']:.2f}"
        if long:
            worst = max(long, key=lambda row: row["CPU"])
            yield "with translation <= 1.6", mean["CPU"] <= 1.6, f"{mean['CPU']:.2f}"
            yield "worst <= 2.2", worst["CPU"] <= 2.2, f"{worst['CPU']:.2f} ({worst['program']})"
        for row in each:
            if row["program"] in ("true", "ls") and row["CPU"]:
                yield f"start of {row['program']} <= 20 ms", row["more ms"] <= 20, f"{row['more ms']:.1f} ms"


class Inputs:
    """Texts of a size, made of what every Debian has; always the same."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)

    def text(self, size):
        path = self.directory / f"text-{size}"
        if not path.exists():
            licences = sorted(pathlib.Path("/usr/share/common-licenses").iterdir())
            words = b"".join(p.read_bytes() for p in licences if not p.is_symlink())
            parts = [b"%d %d\n" % (i, i * i) + words[i * 7919 % len(words):][:4096] for i in range(size // 4096 + 1)]
            path.write_bytes(b"".join(parts)[:size])
        return path

    def source(self, n):
        path = self.directory / f"source-{n}.c"
        if not path.exists():
            path.write_text("".join(
                f"int f{i}(int *p, int n) {{ int s = {i}; for (int k = 0; k < n; k++) {{ if (p[k] > {i % 17}) s += p[k] * {i % 5 + 2}; else s ^= k << {i % 7};"
                f" switch (s % {i % 6 + 3}) {{ case 0: s++; break; case 1: p[k] = s; break; case 2: s -= n; }} }} return s; }}\n" for i in range(n)), encoding="ascii")
        return path
