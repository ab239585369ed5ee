#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What of a long name is written into a narrow box.

usage: flamegraph_names.py FLAMEGRAPH_NAMES.JS"""
import json
import pathlib
import sys
import tempfile

import chromium

MAP = "std::map<std::string, std::vector<int, std::allocator<int> >, std::less<int> >::insert(std::pair<int, int> const&)"
CASES = [
    ("main", 20, "main"),
    ("do_anonymous_page", 8, "do_anon…"),
    ("do_anonymous_page", 2, ""),
    (MAP, 200, MAP),
    (MAP, 90, "std::map<std::string, std::vector<int, std::allocator<int> >, std::less<int> >::insert(…)"),
    (MAP, 40, "std::map<…>::insert(…)"),
    (MAP, 14, "…::insert(…)"),
    (MAP, 7, "insert…"),
    ("std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char)", 40,
     "std::ostream& std::operator<< <…>(…)"),
    ("v8::internal::CodeSerializer::Serialize", 30, "…::CodeSerializer::Serialize"),
    ("(anonymous namespace)::parse(int, int, int)", 20, "…::parse(…)"),
    ("(anonymous namespace)::parse(int, int, int)", 34, "(anonymous namespace)::parse(…)"),
    ("a<b<c<cut off in the mid", 6, "a<b<…"),
]


def main():
    chromium.find()
    script = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    call = ("document.body.dataset.got = JSON.stringify("
            f"{json.dumps([case[:2] for case in CASES])}.map(c => shorten(...c)));")
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "names.html")
        path.write_text(f'<meta charset="utf-8"><body id="names"><script>{script}{call}</script>',
                        encoding="utf-8")
        got = json.loads(chromium.load(path.as_uri()).attributes["names"]["data-got"])
    wrong = [f"{name!r} in {letters}: {have!r}, not {want!r}"
             for (name, letters, want), have in zip(CASES, got) if have != want]
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
