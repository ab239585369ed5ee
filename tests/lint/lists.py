#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists of files in meson.build: a line each, sorted, so that two changes that each add one
merge.  A list below a comment has an order of its own.  usage: lists.py SOURCE-ROOT"""
import re

import lint

ITEM = re.compile(r"\s*'(\w+)(?:\.\w+)?'(?:,|: \[.*\],)$")
CROWDED = re.compile(r"\s*(?:foreach (?!layer)\w+ : |stems \+?= )\[(?:'\w+', ){6}")


def check(path):
    last, is_free = None, False
    for i, line in enumerate(lint.text(path).splitlines(), 1):
        item = ITEM.match(line)
        if CROWDED.match(line):
            yield f'{path}:{i}: many on one line'
        if item and last and item[1] < last and not is_free:
            yield f"{path}:{i}: '{item[1]}' belongs above '{last}'"
        if not item:
            is_free = line.lstrip().startswith('#')
        last = item and item[1]


builds = [p for p in lint.files('meson.build') if not p.startswith('.ci/')]
lint.finish([f for p in builds for f in check(p)], 'a line each, sorted')
