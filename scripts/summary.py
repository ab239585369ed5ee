#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the test cases of meson's logs and shows what failed or was skipped.

usage: summary.py [LABEL=BUILD-DIR | LABEL:passed | LABEL:failed | LABEL:skipped:REASON]...

A TAP test counts with each of its cases, any other as one.  Ends with the one line
'N passed, N failed[, N skipped]'; the exit code is 1 when something failed."""
import json
import os
import re
import sys

TAP = re.compile(r'^(not ok|ok)\b\s*\d*\s*-?\s*([^#\n]*)(#\s*(?:skip|todo)\S*\s*(.*))?$', re.I | re.M)
PASSED = {'OK', 'EXPECTEDFAIL'}


def excerpt(lines):
    """What says why first, then how it ended."""
    if len(lines) <= 16:
        return lines
    why = [x for x in lines[:-8] if re.search(r'error|not ok|failure|assert', x, re.I)]
    return why[:8] + ['...'] + lines[-8:]


class Totals:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.reasons = {}

    def add_pass(self):
        self.passed += 1

    def add_fail(self, name, text):
        self.failed += 1
        print(f'FAILED  {name}')
        for line in excerpt(text.strip().splitlines()):
            print(f'        {line}')

    def add_skip(self, name, reason):
        self.skipped += 1
        self.reasons.setdefault(reason or 'no reason given', []).append(name)


def add_tap(totals, name, entry, cases):
    output = entry.get('stdout', '') + entry.get('stderr', '')
    failed = skipped_oddly = False
    for verdict, case, directive, reason in cases:
        title = f'{name}: {case.strip()}'
        if directive and 'skip' in directive.lower():
            # cmocka writes "not ok 1 # SKIP name", which meson takes for a failure.
            is_cmocka = verdict == 'not ok'
            totals.add_skip(f'{name}: {reason.strip()}' if is_cmocka else title,
                            'the test itself says skip' if is_cmocka else reason.strip())
            skipped_oddly |= is_cmocka
        elif verdict == 'ok':
            totals.add_pass()
        else:
            failed = True
            totals.add_fail(title, output)
    is_fine = entry['result'] in PASSED | {'SKIP'} or (skipped_oddly and not entry.get('returncode'))
    if not failed and not is_fine:
        totals.add_fail(f'{name} ({entry["result"].lower()})', output)


def add_entry(totals, label, entry):
    name = f'{label} {entry["name"]}'
    output = entry.get('stdout', '')
    cases = TAP.findall(output)
    if cases and re.search(r'^1\.\.\d+', output, re.M):
        add_tap(totals, name, entry, cases)
    elif entry['result'] in PASSED:
        totals.add_pass()
    elif entry['result'] == 'SKIP':
        totals.add_skip(name, (output + entry.get('stderr', '')).strip().rpartition('\n')[2])
    else:
        totals.add_fail(f'{name} ({entry["result"].lower()})', output + entry.get('stderr', ''))


def add_build(totals, label, build):
    log = os.path.join(build, 'meson-logs', 'testlog.json')
    if not os.path.exists(log):
        totals.add_fail(f'{label} tests', f'there is no {log}')
        return
    with open(log, encoding='utf-8', errors='replace') as f:
        for line in f:
            add_entry(totals, label, json.loads(line))


def main():
    totals = Totals()
    for word in sys.argv[1:]:
        label, is_build, build = word.partition('=')
        if is_build:
            add_build(totals, label, build)
            continue
        label, verdict, reason = (word.split(':', 2) + [''])[:3]
        if verdict == 'passed':
            totals.add_pass()
        elif verdict == 'skipped':
            totals.add_skip(label, reason)
        else:
            totals.add_fail(label, reason)
    for reason, names in sorted(totals.reasons.items()):
        more = f' and {len(names) - 3} more' if len(names) > 3 else ''
        print(f'skipped {", ".join(names[:3])}{more}: {reason}')
    print(f'{totals.passed} passed, {totals.failed} failed' +
          (f', {totals.skipped} skipped' if totals.skipped else ''))
    sys.exit(1 if totals.failed else 0)


main()
