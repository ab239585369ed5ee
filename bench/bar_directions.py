# SPDX-License-Identifier: Apache-2.0
"""BAR 17: the directions of branches, as samples and their registers tell, beside exact counts."""
import collections
import os
import re
import struct
import subprocess

import bar_blocks

NEAR = (.02, .05, .10, .20)
PT_LOAD, PF_X = 1, 1
BARS = {.05: 90, .10: 95}  # per cent of all executed conditional branches


def pairs(line):
    return dict(re.findall(r'([\w-]+)=("[^"]*"|\S+)', line))


class Recording:
    """What dwell cat tells, with places as (image, offset)."""

    def __init__(self, dwell, path):
        self._dwell, self._path = dwell, path
        images = [pairs(line)["path"] for line in self._lines("images")]
        self.places = [(images[int(f["image"])], int(f["offset"], 16)) for f in map(pairs, self._lines("locations"))]

    def _lines(self, section):
        return subprocess.run([self._dwell, "cat", "--section", section, self._path], stdout=subprocess.PIPE, text=True,
                              check=True).stdout.splitlines()

    def rows(self, section):
        return map(pairs, self._lines(section))


def exact(recording):
    """{where a conditional branch ends: (taken, executed)}."""
    ends, executed, taken = [], collections.Counter(), collections.Counter()
    for f in recording.rows("basic-blocks"):
        image, offset = recording.places[int(f["location"])]
        end = (image, offset + int(f["size"])) if f["end"] == "branch" else None
        ends.append(end)
        if end:
            executed[end] += int(f["times"])
    for f in recording.rows("edges"):
        if f["kind"] == "taken" and ends[int(f["block"])]:
            taken[ends[int(f["block"])]] += int(f["times"])
    return {end: (taken[end], n) for end, n in executed.items() if n}


def seen(recording):
    """{a branch: {where it went, None: unknown: times}}."""
    found = collections.defaultdict(collections.Counter)
    for f in recording.rows("directions"):
        to = recording.places[int(f["to"])] if "to" in f else None
        found[recording.places[int(f["location"])]][to] += int(f["times"])
    return found


def sizes(places, end):
    """Whether a branch of two or six bytes ends there, with or without a prefix."""
    image, offset = end
    return next(((image, offset - n) for n in (2, 6, 3, 7) if (image, offset - n) in places), None)


def text_of(image):
    """Where a file's code begins in it."""
    with open(image.strip('"'), "rb") as f:
        head = f.read(64)
        at, size, n = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
        f.seek(at)
        table = f.read(size * n)
    segments = (struct.unpack_from("<IIQQ", table, i * size) for i in range(n))
    return min((vaddr, offset) for kind, flags, offset, vaddr in segments if kind == PT_LOAD and flags & PF_X)[1]


def estimated(dwell, path, images, scratch):
    """{a branch: share of taken}, of functions with samples: the flow that fits these and what was seen."""
    subprocess.run([dwell, "export", "pixie", "-o", scratch, path], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    shares = {}
    for image in images:
        listing = scratch / f"{os.path.basename(image.strip(chr(34)))}.Branches"
        if not listing.exists():
            continue
        start = text_of(image)
        rows = (line.split() for line in listing.read_text(encoding="ascii").splitlines() if not line.startswith("#"))
        shares.update({(image, start + int(offset, 16)): float(taken) for offset, taken, _ in rows})
    return shares


def seen_shares(found, truth):
    """{a branch: share of taken}, of those that were seen alone."""
    shares = {}
    for end in truth:
        branch = sizes(found, end)
        told = sum(k for to, k in found.get(branch, {}).items() if to is not None)
        if told:
            shares[branch] = (told - found[branch].get(end, 0)) / told
    return shares


def compare(truth, shares, limits=NEAR, name="≤ {:.2f} %"):
    """Per cent of all executed conditional branches by how far off their shares are."""
    total, near = sum(n for _, n in truth.values()), collections.Counter()
    for end, (taken, n) in truth.items():
        branch = sizes(shares, end)
        for limit in limits:
            near[limit] += n if branch and abs(shares[branch] - taken / n) <= limit else 0
    return {name.format(limit): 100 * near[limit] / total for limit in limits}


def known(truth, shares):
    return 100 * sum(n for end, (_, n) in truth.items() if sizes(shares, end)) / sum(n for _, n in truth.values())


class Bar:
    what = "directions of conditional branches from samples and their registers"

    def __init__(self, bench):
        self.bench = bench
        self.notes = ["per cent of all executed conditional branches whose share of taken is off by no more than that;",
                      f"those that no sample told count as wrong; a sample each {bench.interval} of CPU time, one run",
                      "told: of all branches met on the way, those that registers and copied memory decide;",
                      "known: of branches that were told once; seen: by what was told alone; the others: as the flow has it that fits this and the samples"]

    def row_of(self, program):
        command, row = program.command(self.bench.share), {"program": program.name}
        if not command:
            return {**row, "samples": "missing"}
        counted, sampled = self.bench.scratch("counted.dwell"), self.bench.scratch("sampled.dwell")
        for path, words in ((counted, ["-e", "bbcounts"]), (sampled, ["--insn", "-e", "usertime", "-i", self.bench.interval])):
            subprocess.run([self.bench.dwell, "run", "-q", *words, "-o", path, "--", *command], check=False,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        sample = Recording(self.bench.dwell, sampled)
        found = seen(sample)
        met = sum(sum(ways.values()) for ways in found.values())
        unknown = sum(ways[None] for ways in found.values())
        n = sum(int(f.get("count", 1)) for f in sample.rows("samples"))
        truth = exact(Recording(self.bench.dwell, counted))
        by_sight = seen_shares(found, truth)
        folder = self.bench.scratch(f"{program.name}.pixie")
        shares = {**by_sight, **estimated(self.bench.dwell, sampled, {image for image, _ in truth}, folder)}
        return {**row, "samples": n, "told %": 100 * (met - unknown) / max(met, 1), "known %": known(truth, by_sight),
                **compare(truth, by_sight, BARS, "seen ≤ {:.2f} %"), **compare(truth, shares)}

    def rows(self):
        wanted = [p for p in bar_blocks.programs(self.bench) if p.kind == "long" and (not self.bench.wanted or p.name in self.bench.wanted)]
        rows = []
        for program in wanted:
            rows.append(self.row_of(program))
            yield rows[-1]
        whole = [row for row in rows if "told %" in row]
        if whole:
            yield {"program": "mean", **{key: sum(row[key] for row in whole) / len(whole) for key in whole[0] if key not in ("program", "samples")}}

    @staticmethod
    def verdicts(rows):
        mean = rows[-1] if rows and rows[-1]["program"] == "mean" else None
        for limit, bar in BARS.items():
            value = mean and mean[f"≤ {limit:.2f} %"]
            yield f"off by ≤ {limit:.2f}, {bar} %", value is not None and value >= bar, f"{value:.0f} %" if mean else "not measured"
