#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""speedscope itself opens the export and shows its totals.

usage: speedscope_page.py TABLE_EXPORT
Needs `npm install` in this folder; skipped without."""
import base64
import json
import pathlib
import subprocess
import sys
import tempfile

import chromium

RELEASE = pathlib.Path(__file__).parent / "node_modules/speedscope/dist/release/index.html"
# Each format that speedscope reads: how it recognises it, and what it then shows of
# table_profile.c's example.
FORMATS = {
    "speedscope": ("speedscope json file", ("cpu-time, worker 100/101", "37.00ms", "faults, worker 100/101")),
    "folded": ("collapsed stack format", ("Left Heavy",)),
    "perf-script": ("linux perf script output", ("worker pid: 100 tid: 101",)),
    "pprof": ("protobuf encoded pprof file", ("Left Heavy",)),
}


def open_in_speedscope(exporter, name, directory):
    exported = subprocess.run([exporter, name], stdout=subprocess.PIPE, check=True).stdout
    # How speedscope's own command hands a file to its page.
    script = pathlib.Path(directory, "profile.js")
    script.write_text("speedscope.loadFileFromBase64(%s, %s)" % (
        json.dumps("example." + name), json.dumps(base64.b64encode(exported).decode())), encoding="utf-8")
    return chromium.load(f"{RELEASE.resolve().as_uri()}#localProfilePath={script}")


def look(exporter, name, recognised, want):
    with tempfile.TemporaryDirectory() as directory:
        page = open_in_speedscope(exporter, name, directory)
    console = "\n".join(page.console)
    if recognised not in console:
        yield f"{name}: not recognised:\n{console}"
    if "Uncaught" in console:
        yield f"{name}: {console}"
    for text in want:
        if text not in page.all_text:
            yield f"{name}: not shown: {text}"


def main():
    chromium.find()
    if not RELEASE.exists():
        print("skipped: no speedscope (npm install in tests/web)")
        sys.exit(chromium.SKIP)
    failed = [line for name, (recognised, want) in FORMATS.items()
              for line in look(sys.argv[1], name, recognised, want)]
    print("\n".join(failed))
    sys.exit(1 if failed else 0)


main()
