#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Machine models beside LLVM's of the same processors, instruction by instruction.

usage: tests/models/compare.py MODEL_TIMES [--all]

llvm-mca tells of each instruction of instructions_*.s the latency and the cycles between two
of them, and its encoding, of which MODEL_TIMES tells what our model's schedule makes.  A
difference beyond the bounds below has to be in differences.txt, with its reason.  --all shows
every difference.  LLVM_MCA names another llvm-mca; without one the test is skipped."""
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
# model: LLVM's triple and -mcpu, what its ports are called where it is a model of its own, and instructions
MODELS = {
    "skylake": ("x86_64", "skylake-avx512", "SKX", "x86"),
    "zen3": ("x86_64", "znver3", "Zn3", "x86"),
    "zen4": ("x86_64", "znver4", "Zn4", "x86"),
    "golden-cove": ("x86_64", "sapphirerapids", "SPR", "x86"),
    "redwood-cove": ("x86_64", "graniterapids", "SPR", "x86"),
    "neoverse-n1": ("aarch64", "neoverse-n1", "N1", "aarch64"),
    "neoverse-v1": ("aarch64", "neoverse-v1", "V1", "aarch64"),
}
ATTRIBUTES = {"x86": [], "aarch64": ["-mattr=+crc,+dotprod,+aes,+sha2"]}
CYCLES, SHARE = 1.0, 0.34    # of latencies: either; of throughputs: the second, or a quarter of a cycle
VERSIONS = ["", *(f"-{n}" for n in range(25, 13, -1))]


def find_mca():
    """The newest of those that are installed."""
    named = os.environ.get("LLVM_MCA")
    found = [(version_of(path), path) for v in VERSIONS if (path := shutil.which("llvm-mca" + v))]
    return named or (max(found)[1] if found else None)


def version_of(path):
    text = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"version (\d+)", text).group(1))


def lines_of(name):
    return [line for line in (HERE / name).read_text().splitlines() if line and not line.startswith("#")]


def llvm_rows(mca, model):
    """(instruction, encoding, latency, cycles between), or None where LLVM has no such model."""
    triple, cpu, ports, which = MODELS[model]
    lines = lines_of(f"instructions_{which}.s")
    words = [mca, f"-mtriple={triple}-linux-gnu", f"-mcpu={cpu}", *ATTRIBUTES[which], "-show-encoding", "-iterations=1"]
    done = subprocess.run(words, input="\n".join(lines), capture_output=True, text=True, check=False)
    if done.returncode != 0 or ports not in done.stdout:
        return None
    info = done.stdout.split("Instruction Info:")[1].split("Resources:")[0]
    # uOps, latency, throughput, three columns of flags, the encoding's size, and the encoding
    found = re.findall(r"^ +\d+ +(\d+) +([\d.]+) .*? \d+ +((?:[0-9a-f]{2} )+)", info, re.M)
    if len(found) != len(lines):
        sys.exit(f"{model}: {len(found)} of {len(lines)} instructions are understood: has llvm-mca another output?")
    return [(line, code.replace(" ", ""), float(latency), float(between))
            for line, (latency, between, code) in zip(lines, found)]


def our_rows(program, model, rows):
    done = subprocess.run([program, model], input="\n".join(row[1] for row in rows), capture_output=True, text=True, check=True)
    return [None if line == "-" else (float(line.split()[0]), float(line.split()[1]), line.split(None, 2)[2])
            for line in done.stdout.splitlines()]


def is_near(ours, theirs, cycles):
    return abs(ours - theirs) <= cycles or max(ours, theirs) <= (1 + SHARE) * min(ours, theirs)


def differences(rows, ours):
    for (line, _, latency, between), mine in zip(rows, ours):
        if mine is None:
            yield line, "reading", 0, 0
            continue
        if mine[0] and latency and not is_near(mine[0], latency, CYCLES):
            yield line, "latency", mine[0], latency
        if not is_near(mine[1], between, CYCLES / 4):
            yield line, "throughput", mine[1], between


class Excuses:
    def __init__(self):
        self.rows = [re.split(r"\s{2,}", line) for line in lines_of("differences.txt")]
        if any(len(row) != 4 for row in self.rows):
            sys.exit("differences.txt: four columns, two blanks between them")

    def find(self, model, what, line):
        return next((reason for models, whats, pattern, reason in self.rows
                     if model in models.split(",") and what in whats.split(",") and fnmatch.fnmatchcase(line, pattern)), None)


def main():
    program, shows_all = sys.argv[1], "--all" in sys.argv
    mca, excuses = find_mca(), Excuses()
    n_compared, n_excused, bad = 0, 0, []
    if not mca:
        print("no llvm-mca here")
        sys.exit(77)
    for model in MODELS:
        rows = llvm_rows(mca, model)
        if rows is None:
            print(f"{model}: this llvm-mca ({version_of(mca)}) has no model of it")
            continue
        n_compared += len(rows)
        for line, what, mine, theirs in differences(rows, our_rows(program, model, rows)):
            reason = excuses.find(model, what, line)
            n_excused += reason is not None
            if reason is None:
                bad.append(line)
            if reason is None or shows_all:
                print(f"{model:12} {what:10} {line:34} {mine:6.2f} LLVM {theirs:6.2f}  {reason or 'WHY?'}")
    print(f"{n_compared} instructions compared, {n_excused} differences with a reason, {len(bad)} without")
    sys.exit(1 if bad else 0 if n_compared else 77)


main()
