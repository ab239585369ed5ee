#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`go tool pprof` reads the export: totals, inlining, system names.

usage: go_pprof.py TABLE_EXPORT"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
FAILED = []


def pprof(path, *options):
    done = subprocess.run(["go", "tool", "pprof", *options, str(path)], capture_output=True,
                          text=True, check=False, timeout=120)
    if done.returncode != 0:
        FAILED.append(f"pprof {options}: {done.stderr}")
    return done.stdout


def expect(what, text, pattern):
    if not re.search(pattern, text, re.MULTILINE):
        FAILED.append(f"{what}: no {pattern!r} in\n{text}")


def main():
    if not shutil.which("go"):
        print("skipped: no go (apt-get install golang-go)")
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "example.pb.gz")
        path.write_bytes(subprocess.run([sys.argv[1], "pprof"], stdout=subprocess.PIPE, check=True).stdout)

        top = pprof(path, "-top", "-unit=ns")
        expect("total", top, r"100% of 37000001ns total")
        expect("inlined", top, r"^ *20000001ns .* step \(inline\)$")
        expect("recursion", top, r" 27000001ns 72\.97% +work\(")
        expect("no stack", top, r"^ *1000000ns .*\[no stack\]$")
        expect("counts", pprof(path, "-top", "-sample_index=cpu-time samples"), r"of 37 total")
        expect("second event", pprof(path, "-top", "-sample_index=faults"), r"^ *7 +100% .* vfs_read$")

        raw = pprof(path, "-raw")
        expect("period", raw, r"^Period: 1000000$")
        expect("default", raw, r"cpu-time/nanoseconds\[dflt\]")
        expect("system name", raw, r"\(_Z4workRKSt6vectorIiSaIiEE\)")
        expect("main program first", raw, r"^1: 0x0/0x[0-9a-f]+/0x0 /opt/example ")
        expect("control characters", raw, r"\\x1b\[2J")
    print("\n".join(FAILED))
    sys.exit(1 if FAILED else 0)


main()
