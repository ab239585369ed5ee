#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every format of `dwell export` has the totals of `dwell report`.

usage: export_totals.py DWELL MKRECORDING"""
import csv
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import pprof_profile

RECORDING = """
event cpu-time
event faults unit=count period=1 experiment=faults flags=exact
process 100 prog exe=/opt/prog cmdline="prog --fast"
thread 100 101 "a worker"
image lib /opt/lib.so kind=elf build-id=0123456789abcdef0123456789abcdef01234567
info command prog --fast </script>
use event=cpu-time
main;work 70
main;work;inner 20 tid=101
main;work;work 5
main;read;vfs_read_[k] 3
main;read;vfs_read_[k] 4 event=faults
main;lib+0x100 2
main;"Ljava/lang/String;</script><img>" 7 tid=101
- 2
[truncated:2];lost_caller 1
"""
FAILED = []
DWELL, MKRECORDING = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])


def dwell(*words):
    done = subprocess.run([DWELL, *map(str, words)], capture_output=True, check=False, timeout=60)
    if done.returncode != 0:
        FAILED.append(f"dwell {words}: {done.returncode} {done.stderr.decode()}")
    return done.stdout


def expect(what, have, want):
    if have != want:
        FAILED.append(f"{what}: {have!r}, not {want!r}")


def text(words):
    return dwell("export", *words, "-o", "-").decode()


def folded(options):
    lines = text(["folded", *options]).splitlines()
    return {None: sum(int(line.rsplit(" ", 1)[1]) for line in lines)}


def perf_script(options):
    totals = {}
    for period, event in re.findall(r"^\S.*: +(\d+) (\S+): $", text(["perf-script", *options]), re.MULTILINE):
        totals[event] = totals.get(event, 0) + int(period)
    return totals


def csv_file(options):
    header, *rows = csv.reader(text(["csv", *options]).splitlines())
    names = {i: h.split(" ")[0] for i, h in enumerate(header) if " exclusive [" in h}
    return {name: sum(int(row[i]) for row in rows) for i, name in names.items()}


def speedscope(options):
    document = json.loads(text(["speedscope", *options]))
    totals = {}
    for p in document["profiles"]:
        event = p["name"].split(",")[0]
        expect(f"speedscope {event} weights", sum(p["weights"]), p["endValue"])
        totals[event] = totals.get(event, 0) + p["endValue"]
    return totals


def flamegraph(options):
    page = text(["flamegraph", *options])
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    for column, self in zip(data["columns"], data["self"]):
        expect(f"flamegraph {column['name']} nodes", sum(self), column["total"])
    return {c["name"]: c["total"] for c in data["columns"]}


def pprof(options):
    profile = pprof_profile.Profile(dwell("export", "pprof", *options, "-o", "-"))
    return {t: profile.total(t) for t in profile.types if not t.endswith("samples")}


FORMATS = {"folded": folded, "perf-script": perf_script, "csv": csv_file, "speedscope": speedscope,
           "flamegraph": flamegraph, "pprof": pprof}


def compare(recording, *filters):
    want = json.loads(dwell("report", "--json", *filters, recording))["total"]
    for name, read in FORMATS.items():
        have = read([*filters, recording])
        if None in have:    # holds the first event only
            want_here, have = next(iter(want.values())), have[None]
        else:
            want_here = {event: total for event, total in want.items() if total or event in have}
        expect(f"{name} {filters}", have, want_here)


def defaults(directory, recording):
    """Names of files, and what is printed."""
    done = subprocess.run([DWELL, "export", "csv", recording.name], cwd=directory, capture_output=True, check=True)
    expect("line", done.stdout.decode().startswith("known.csv: csv, "), True)
    expect("file", (directory / "known.csv").exists(), True)
    for words, code in ((["nonsense"], 2), (["csv", "-o", "/nonexistent/x"], 1), (["csv", "-o", "/dev/full"], 1)):
        done = subprocess.run([DWELL, "export", *words, recording.name] if len(words) > 1 else [DWELL, "export", *words],
                              cwd=directory, capture_output=True, check=False)
        expect(f"exit code of {words}", done.returncode, code)
        expect(f"one line about {words}", done.stderr.count(b"\n"), 1)


def main():
    listed = dwell("export").decode().split()
    expect("formats not tested here", [f for f in FORMATS if f not in listed], [])
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        recording = directory / "known.dwell"
        subprocess.run([MKRECORDING, str(recording)], input=RECORDING.encode(), check=True)
        compare(recording)
        compare(recording, "--event", "cpu-time")
        compare(recording, "--filter", "thread == 'a worker'")
        profile = pprof_profile.Profile(dwell("export", "pprof", recording, "-o", "-"))
        expect("build-id", "0123456789abcdef0123456789abcdef01234567" in profile.build_ids, True)
        defaults(directory, recording)
    print("\n".join(FAILED))
    sys.exit(1 if FAILED else 0)


main()
