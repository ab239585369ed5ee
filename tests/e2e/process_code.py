# SPDX-License-Identifier: Apache-2.0
"""The code of a process as it is in memory, which is what runs."""


def code_of(pid, path):
    """That of a file, as soon as it is mapped."""
    while True:
        with open(f'/proc/{pid}/maps', encoding='ascii') as maps, open(f'/proc/{pid}/mem', 'rb') as memory:
            for line in maps:
                span, how, *_ = line.split()
                if 'x' in how and line.rstrip().endswith(path):
                    start, end = (int(x, 16) for x in span.split('-'))
                    memory.seek(start)
                    return memory.read(end - start)
