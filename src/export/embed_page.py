#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: embed_page.py PAGE.html STYLE.css SCRIPT.js… OUT.c: a page as C strings.

The style and the scripts, one after the other in a function of their own, take the
places of {{css}} and {{js}}; the Content-Security-Policy gets their hashes, so the page
runs nothing else.  What comes before and after {{data}} become PAGE_page_head and
PAGE_page_tail."""
import base64
import hashlib
import pathlib
import sys


def content(path):
    """The file without the licence comment that heads every source file."""
    text = path.read_text(encoding="utf-8")
    return text.split("\n", 1)[1] if "SPDX-License-Identifier" in text.split("\n", 1)[0] else text


def csp_hash(text):
    digest = hashlib.sha256(text.encode()).digest()
    return "'sha256-" + base64.b64encode(digest).decode() + "'"


def c_string(name, text):
    lines = [f"const char {name}[] ="]
    for line in text.splitlines(keepends=True):
        escaped = line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        lines.append(f'\t"{escaped}"')
    return "\n".join(lines) + ";\n"


def main():
    page, style, *scripts, out = (pathlib.Path(a) for a in sys.argv[1:])
    script = '"use strict";\n(() => {\n' + "\n".join(content(s) for s in scripts) + "})();\n"
    html = content(page)
    for kind, text in (("css", content(style)), ("js", script)):
        html = html.replace("{{%s_hash}}" % kind, csp_hash(text))
        html = html.replace("{{%s}}" % kind, text)
    head, tail = html.split("{{data}}")
    stem = page.stem + "_page"
    out.write_text(
        f'#include "export/{stem}.h"\n\n'
        + c_string(stem + "_head", head)
        + "\n"
        + c_string(stem + "_tail", tail),
        encoding="utf-8",
    )


main()
