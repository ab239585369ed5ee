#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The flame graph in a real browser: no error, right numbers, no name becomes markup.

usage: flamegraph_page.py TABLE_EXPORT"""
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse

import chromium

# Of table_profile.c's example.
CPU_TIME, FAULTS = 37000001, 7
WORK, HOSTILE = 27000001, 5000000
FAILED = []


def expect(what, have, want):
    if have != want:
        FAILED.append(f"{what}: {have!r}, not {want!r}")


def look(path, what, **state):
    """The page with a state in its address; what must hold of every page is checked."""
    page = chromium.load(path.as_uri() + ("#" + urllib.parse.urlencode(state) if state else ""))
    expect(f"{what}: console", page.console, [])
    expect(f"{what}: ready", page.root.get("data-state"), "ready")
    expect(f"{what}: trouble", "hidden" in page.attributes["problem"], True)
    expect(f"{what}: elements made of names", (page.tags.get("img"), page.tags.get("b")), (None, None))
    return page


def main():
    chromium.find()
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "example.html")
        path.write_bytes(subprocess.run([sys.argv[1], "flamegraph"], stdout=subprocess.PIPE, check=True).stdout)

        page = look(path, "plain")
        expect("title", page.text["title"], "</title><b>example</b>")
        expect("total", page.root["data-total"], str(CPU_TIME))
        expect("text of the total", page.text["total"], "37.0 ms of cpu-time · 37 samples · usertime")
        expect("reset", "disabled" in page.attributes["reset"], True)
        expect("events", "hidden" in page.attributes["column"], False)

        page = look(path, "search", search="work")
        expect("recursion counts once", page.root["data-matched"], str(WORK))
        expect("share", page.text["matched"], "73.0 %")

        page = look(path, "regex", search="/^(step|read)$/")
        expect("regex", page.root["data-matched"], str(20000001 + 1000000))

        page = look(path, "broken regex", search="/(/")
        expect("broken regex", page.text["matched"], "not a regex")

        page = look(path, "hostile", search="onerror", view="bottom-up", flip="1")
        expect("the same share in both views", page.root["data-matched"], str(HOSTILE))
        expect("bottom-up", page.attributes["bottom-up"]["aria-pressed"], "true")

        page = look(path, "event", event="faults")
        expect("faults", page.root["data-total"], str(FAULTS))

        page = look(path, "zoom", zoom="1.2")
        expect("zoomed", "disabled" in page.attributes["reset"], False)

        look(path, "nonsense", event="x", zoom="9.9.9", view="y", search="image:none")
    for line in FAILED:
        print(line)
    sys.exit(1 if FAILED else 0)


main()
