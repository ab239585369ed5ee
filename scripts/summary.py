#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the test cases of meson's logs and shows what failed or was skipped.

usage: summary.py [LABEL=BUILD-DIR | LABEL:passed | LABEL:failed | LABEL:skipped:REASON]...
       summary.py --failed BUILD-DIR SUITE...

A TAP test counts with each of its cases, any other as one.  What failed has failed, also when
it passed as it ran again alone, by again.json, which is told of it.  Ends with the one line
'N passed, N failed[, N skipped]'; the exit code is 1 when something failed.  --failed lists the tests of these suites that failed."""
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
        self.passed = self.skipped = 0
        self.failures = []
        self.reasons = {}

    def add_pass(self):
        self.passed += 1

    def add_fail(self, name, text):
        self.failures.append((name, text))

    def add_skip(self, name, reason):
        self.skipped += 1
        self.reasons.setdefault(reason or 'no reason given', []).append(name)


def show(failures):
    for name, text in failures:
        print(f'FAILED  {name}')
        for line in excerpt(text.strip().splitlines()):
            print(f'        {line}')


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


def log_of(build, name):
    return os.path.join(build, 'meson-logs', name + '.json')


def entries(log):
    with open(log, encoding='utf-8', errors='replace') as f:
        return [json.loads(line) for line in f]


def failures_of(label, entry):
    one = Totals()
    add_entry(one, label, entry)
    return one.failures


def add_build(totals, label, build):
    log, second = log_of(build, 'testlog'), log_of(build, 'again')
    if not os.path.exists(log):
        totals.add_fail(f'{label} tests', f'there is no {log}')
        return
    again = {e['name']: e for e in entries(second)} if os.path.exists(second) else {}
    for entry in entries(log):
        later = again.get(entry['name'])
        n_before = len(totals.failures)
        add_entry(totals, label, entry)
        if later and not failures_of(label, later):
            totals.failures[n_before:] = [(f'{name}, but passes alone', text)
                                          for name, text in totals.failures[n_before:]]


def list_failed(build, suites):
    """By their names within the suite."""
    log = log_of(build, 'testlog')
    for entry in entries(log) if os.path.exists(log) else []:
        suite, _, name = entry['name'].rpartition(' / ')
        if suite.rpartition(':')[2] in suites and failures_of('', entry):
            print(name)


def main():
    if sys.argv[1:2] == ['--failed']:
        list_failed(sys.argv[2], sys.argv[3:])
        return
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
    show(totals.failures)
    for reason, names in sorted(totals.reasons.items()):
        more = f' and {len(names) - 3} more' if len(names) > 3 else ''
        print(f'skipped {", ".join(names[:3])}{more}: {reason}')
    print(f'{totals.passed} passed, {len(totals.failures)} failed' +
          (f', {totals.skipped} skipped' if totals.skipped else ''))
    sys.exit(1 if totals.failures else 0)


main()
