# SPDX-License-Identifier: Apache-2.0
"""What the lints share: the tree's files, and how a finding is reported."""
import os
import sys

SKIPPED = {'.git', 'node_modules', 'third_party', '__pycache__'}


def root():
    return sys.argv[1]


def build_dir():
    return sys.argv[2]


def files(*suffixes, under=('.',)):
    """Paths relative to the root, sorted, with one of the suffixes."""
    found = set()
    for top in under:
        for folder, folders, names in os.walk(os.path.join(root(), top)):
            folders[:] = [f for f in folders if f not in SKIPPED and not f.startswith('build')]
            for name in names:
                if not suffixes or name.endswith(suffixes):
                    found.add(os.path.relpath(os.path.join(folder, name), root()))
    return sorted(found)


def text(path):
    with open(os.path.join(root(), path), encoding='utf-8', errors='replace') as f:
        return f.read()


def stem(path):
    """src/collect/bpf/sample.bpf.c -> sample.bpf"""
    return os.path.splitext(os.path.basename(path))[0]


def finish(findings, hint):
    for line in findings:
        print(line)
    if findings:
        print(f'{len(findings)} found: {hint}')
        sys.exit(1)
