#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""I/O: compared call by call with what strace tells of the same programs: how often,
with how many errors, how many bytes, of which file.
usage: io.py DWELL PROGRAM_DIR"""
import collections
import contextlib
import json
import os
import re
import shutil
import shlex
import signal
import subprocess
import sys
import threading
import time

import harness
import io_recording
import oracles
from harness import DIR, IS_ROOT, TESTS, Skip, beside, dwell, is_asleep, report, run_all, skip_all, test, text_of, wait_until
from io_recording import FILE, endless_waits_have_their_time, record, record_client, rows

PROGRAMS = os.path.abspath(sys.argv[2])
IO = os.path.join(PROGRAMS, 'e2e-io')
LATE = os.path.join(PROGRAMS, 'e2e-io_late')
MANY = os.path.join(DIR, 'many')

READS = {'read', 'pread64', 'readv', 'preadv', 'preadv2', 'recvfrom', 'recvmsg', 'sendfile',
         'splice', 'copy_file_range'}
WRITES = {'write', 'pwrite64', 'writev', 'pwritev', 'pwritev2', 'sendto', 'sendmsg'}
OTHERS = {'open', 'openat', 'openat2', 'creat', 'close', 'dup', 'dup2', 'dup3', 'pipe', 'pipe2',
          'socket', 'socketpair', 'connect', 'accept', 'accept4', 'shutdown', 'lseek', 'fsync',
          'fdatasync', 'ftruncate', 'fallocate', 'fadvise64', 'getdents64', 'memfd_create',
          'readahead', 'sync_file_range', 'io_uring_enter', 'close_range', 'msync'}
CALLS = READS | WRITES | OTHERS


# Prints how long that lasted, and for how much of it there was no CPU, in ns.
READS_UNTIL_THE_END = '''
import os, time
def late():
    return int(open('/proc/thread-self/schedstat').read().split()[1])
there, here = os.pipe()
if not os.fork():
    time.sleep(0.5)
    os._exit(0)
os.close(here)
late_ns, ns = late(), time.monotonic_ns()
os.read(there, 1)
ns = time.monotonic_ns() - ns
print(ns, late() - late_ns)
'''


Told = collections.namedtuple('Told', 'calls errors bytes')
LINE = re.compile(r'(?:\d+ +)?(\w+)\(.* = (-?\d+)(?:<.*>)?(?: E\w+.*| \(.*\))?$')
BEGUN = re.compile(r'(\d+) +(.*) <unfinished \.\.\.>$')
RESUMED = re.compile(r'(\d+) +<\.\.\. \w+ resumed>(.*)$')


def lines_of(path):
    """Whole calls: those that others came between are put together."""
    begun = {}
    with open(path, encoding='latin-1') as f:
        for line in map(str.rstrip, f):
            if m := BEGUN.fullmatch(line):
                begun[m[1]] = m[2]
            elif m := RESUMED.fullmatch(line):
                yield begun.pop(m[1], '') + m[2]
            else:
                yield re.sub(r'^\d+ +', '', line)


def by_strace(*command, stdin=None):
    """{call: Told} of every call that returned"""
    oracles.need('strace')
    out = os.path.join(DIR, 'strace')
    subprocess.run(['strace', '-f', '-s', '0', '-e', 'signal=none', '-o', out, *command],
                   capture_output=True, timeout=300, check=True, env=oracles.ENVIRONMENT,
                   stdin=stdin)
    told = collections.defaultdict(lambda: Told(0, 0, 0))
    for line in lines_of(out):
        m = LINE.fullmatch(line)
        if not m or m[1] not in CALLS:
            continue
        n, was = int(m[2]), told[m[1]]
        moved = n if n > 0 and m[1] in READS | WRITES else 0
        told[m[1]] = Told(was.calls + 1, was.errors + (n < 0), was.bytes + moved)
    assert told, out
    return dict(told)


def found():
    """The same, of the recording."""
    return {name: Told(r['calls'], r['errors'], r['read_bytes'] + r['written_bytes'])
            for name, r in rows('call').items() if r['calls']}


def same_as_strace(*command, data=None, options=()):
    """Both run the command in the same way."""
    command = [*oracles.STILL, *command]
    with open(data or os.devnull, 'rb') as stdin:
        told = by_strace(*command, stdin=stdin)
    with open(data or os.devnull, 'rb') as stdin:
        record(*command, stdin=stdin, options=options)
    got = found()
    assert got == told, {k: (got.get(k), told.get(k)) for k in {*got, *told}
                         if got.get(k) != told.get(k)}


@test
def the_kernel_checks_the_programs_once():
    oracles.need('strace')
    out = os.path.join(DIR, 'bpf')
    for words in ('io',), ('io', '--flat'), ('sync',), ('sync', '--threshold', '50us'), ('io,sync', '--flat'):
        subprocess.run(['strace', '-f', '-e', 'trace=bpf', '-o', out, harness.DWELL, 'run', '-q', '-e', *words,
                        '-o', FILE, '--', 'true'], check=True, timeout=60)
        with open(out) as f:
            loaded = re.findall(r'prog_name="(\w+?)(?:_flat)?"', f.read())
        n = words[0].count(',') + 1
        assert loaded.count('entered') == n and loaded.count('ended') == n, (words, loaded)


@test
def cat_is_counted_to_the_byte():
    same_as_strace('cat', '/etc/passwd', '/etc/group', '/etc/services')


@test
def what_our_library_does_in_a_program_is_not_the_program_s():
    same_as_strace('cat', '/etc/passwd', options=['-e', 'heap'])


@test
def a_file_that_is_called_as_our_library_is_the_program_s():
    path = os.path.join(DIR, 'libdwell-notes.txt')
    shutil.copyfile('/etc/passwd', path)
    for options in (), ('-e', 'heap'):
        same_as_strace('cat', path, options=options)
        assert rows('file')[path]['read_bytes'] == os.path.getsize(path), options


@test
def dd_is_counted_to_the_byte():
    same_as_strace('dd', 'if=/dev/zero', f'of={MANY}', 'bs=777', 'count=3000', 'conv=fsync',
                   'status=none')


@test
def cp_is_counted_to_the_byte():
    shutil.copyfile(sys.executable, MANY)
    same_as_strace('cp', MANY, os.path.join(DIR, 'copy'))


@test
def a_compiler_and_its_children_are_counted_to_the_byte():
    source = os.path.join(DIR, 'one.c')
    with open(source, 'w', encoding='ascii') as f:
        f.write('#include <stdio.h>\nint main(void) { return puts("1") < 0; }\n')
    if not shutil.which('gcc'):
        raise Skip('no gcc')
    same_as_strace('gcc', '-c', source, '-o', os.path.join(DIR, 'one.o'))


@test
def an_interpreter_is_counted_to_the_byte():
    same_as_strace(sys.executable, '-S', '-B', '-c',
                   'import json; print(len(open("/etc/services").read()))')


@test
def a_database_is_counted_to_the_byte():
    if not shutil.which('sqlite3'):
        raise Skip('no sqlite3')
    base = os.path.join(DIR, 'base')
    same_as_strace('sh', '-c', f'rm -f {base}*; sqlite3 {base} "'
                   'PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL; BEGIN; CREATE TABLE t(a, b); '
                   'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) '
                   'INSERT INTO t SELECT i, hex(i * 1000003) FROM n; COMMIT"')
    r = rows('file')[base]
    # One transaction, which fits into its cache: each page is written once.
    assert r['written_bytes'] == os.path.getsize(base) > 20 * 4096, (r, os.path.getsize(base))
    by_call = rows('call', '--filter', f'function == "{base}"')
    assert by_call['pwrite64']['calls'] == os.path.getsize(base) / 4096, by_call
    assert sum(by_call[n]['calls'] for n in ('fsync', 'fdatasync') if n in by_call) == 1, by_call


@test
def a_static_program_is_counted_to_the_byte():
    same_as_strace(IO + '-static', 'plain', MANY)


@test
def lists_of_pieces_are_counted_to_the_byte():
    same_as_strace(IO, 'lists', MANY)


@test
def sockets_are_counted_to_the_byte():
    same_as_strace(IO, 'sockets')


@test
def threads_are_counted_to_the_byte():
    same_as_strace(IO, 'threads', MANY)


@test
def a_program_in_go_is_counted_to_the_byte():
    if not shutil.which('go'):
        raise Skip('no go')
    source, program = (os.path.join(DIR, n) for n in ('w.go', 'w-go'))
    with open(source, 'w', encoding='ascii') as f:
        f.write('package main\nimport ("fmt"; "os")\n'
                'func main() { f, _ := os.Create(os.Args[1]); '
                'for i := 0; i < 500; i++ { fmt.Fprintf(f, "%d\\n", i) }; f.Close() }\n')
    subprocess.run(['go', 'build', '-o', program, source], check=True, capture_output=True,
                   env={**os.environ, 'GOCACHE': os.path.join(DIR, 'go'), 'HOME': DIR})
    record(program, MANY)
    r = rows('file')[MANY]
    assert r['written_bytes'] == os.path.getsize(MANY), r
    assert {s['calls'] for s in r['sizes']} and sum(s['calls'] for s in r['sizes']) == 500, r


# Writes lines of ten bytes, so many as it is told, until it is told no more.
WRITES_AS_TOLD = """
import os, sys
f = os.open(sys.argv[1], os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
print(os.getpid(), flush=True)
for line in sys.stdin:
    for i in range(int(line)):
        os.write(f, b'123456789\\n')
    print('done', flush=True)
"""


@test
def what_was_done_until_a_mark_is_of_the_interval_that_it_ends():
    parts = [1000, 300, 70]
    with subprocess.Popen([harness.DWELL, 'run', '-q', '-e', 'io', '-S', '0', '-o', FILE, '--',
                           sys.executable, '-S', '-c', WRITES_AS_TOLD, MANY],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        pid = p.stdout.readline().strip()
        for n in parts:
            p.stdin.write(f'{n}\n')
            p.stdin.flush()
            assert p.stdout.readline() == 'done\n'
            if n != parts[-1]:
                mark = dwell('ctl', 'mark', pid, 'told')
                assert mark.returncode == 0, mark.stderr
    assert p.returncode == 0, p.returncode
    written = [rows('file', '--filter', f'interval == {i + 1}')[MANY]['written_bytes']
               for i in range(len(parts))]
    assert written == [10 * n for n in parts], written


def by_file():
    return rows('file', '--filter', f'function == "{MANY}"')[MANY]


@test
def asked_and_done_are_told_apart():
    record(IO, 'plain', MANY)
    r = by_file()
    # 100 of 1000 bytes are written; of 64 KB each one read gets all, the next nothing.
    assert r['written_bytes'] == 100 * 1000, r
    assert r['read_bytes'] == 100 * 1000, r
    assert r['asked_bytes'] == 100 * 1000 + 3 * 65536, r
    assert {s['from']: s['calls'] for s in r['sizes']} == {512: 100, 65536: 1, 32768: 1, 0: 1}, r
    assert sum(s['calls'] for s in r['durations_ns']) == r['calls'], r


@test
def lists_ask_for_the_sum_of_their_pieces():
    record(IO, 'lists', MANY)
    r = by_file()
    assert r['written_bytes'] == r['asked_bytes'] - r['read_bytes'] - 10, r


@test
def descriptors_that_were_copied_are_of_the_same_file():
    record('sh', '-c', f'exec 5>{MANY}; echo one >&5; echo two 1>&5; exec 6>&5; exec 5>&-; '
                       'echo three >&6; (echo four >&6)')
    r = by_file()
    assert r['written_bytes'] == len('one\ntwo\nthree\nfour\n'), r


@test
def pipes_and_their_errors_have_rows():
    record('bash', '-c', 'echo abc | cat >/dev/null; cat /no/such/file/at/all 2>/dev/null; true')
    files = rows('file')
    pipes = [r for n, r in files.items() if n.startswith('pipe:[')]
    assert sum(r['written_bytes'] for r in pipes) >= 4, files
    assert files['/no/such/file/at/all']['errors'] == 1, files
    p = dwell('report', '--event', 'io-errors', '--json', FILE)
    names = {row['name'] for row in json.loads(p.stdout)['rows']}
    assert '[ENOENT]' in names, names


FAILED = re.compile(r'(?:open|openat|creat)\((?:\w+, )?"(.*?)"(?:\.\.\.)?,.* = -1 E.*$')


@test
def what_could_not_be_opened_has_its_path():
    oracles.need('strace')
    out = os.path.join(DIR, 'strace')
    subprocess.run(['strace', '-f', '-e', 'signal=none', '-o', out, IO, 'missing', MANY],
                   check=True, timeout=120)
    told = collections.Counter(m[1] for m in map(FAILED.fullmatch, lines_of(out)) if m)
    no_path = told.pop('') + 1
    assert told[MANY + '/under'] == len(MANY + '/under') and no_path == 2, told
    record(IO, 'missing', MANY)
    files = rows('file')
    assert {n: files[n]['errors'] for n in told} == told, (told, files)
    assert files['[no file]']['errors'] == no_path, files


FAILURES = 70000  # more than have names


def fail_to_open(rest):
    """With so many seconds of rest after every 500."""
    record(sys.executable, '-S', '-c',
           'import os, time\n'
           f'for i in range({FAILURES}):\n'
           f'    if i % 500 == 0: time.sleep({rest})\n'
           '    try: os.open(f"/no/such/{i}", 0)\n'
           '    except OSError: pass\n'
           f'os.write(os.open({MANY!r}, os.O_WRONLY), b"12345")\n')


@test
def paths_that_fail_leave_numbers_for_files():
    for rest in (.002, .02, .1):  # as long as the recorder needs beside others
        fail_to_open(rest)
        if not report(FILE)['quality']['lost']:
            break
    files = rows('file')
    assert files[MANY]['written_bytes'] == 5, files[MANY]
    assert files['[more files]']['errors'] > FAILURES - 65536, files['[more files]']


@test
def connections_have_both_ends():
    port = record_client()
    name, r = next((n, r) for n, r in rows('file').items() if n.endswith(f'->127.0.0.1:{port}'))
    assert re.fullmatch(rf'TCP 127.0.0.1:\d+->127.0.0.1:{port}', name), name
    assert r['read_bytes'] == 5000, r


@test
def callers_are_those_who_call():
    record(IO, 'callers', MANY)
    stacks = dwell('io', '--json', '--by', 'stack', FILE)
    calls = collections.Counter()
    for row in json.loads(stacks.stdout)['rows']:
        names = [f['name'] for f in row['frames']]
        for name in ('writes_little', 'writes_much'):
            if name in names and 'main' in names:
                calls[name] += row['written_bytes']
    # The first of them may be before the rules for walking are there.
    assert 0 <= 3000 * 16 - calls['writes_little'] <= 200 * 16, calls
    assert 0 <= 3000 * 4096 - calls['writes_much'] <= 200 * 4096, calls


def truncated_calls():
    p = dwell('report', '--json', '--event', 'io-calls', FILE)
    return sum(row['inclusive']['io-calls'] for row in json.loads(p.stdout)['rows']
               if row['name'].startswith('[truncated'))


@test
def short_programs_have_whole_stacks_from_their_first_call_on():
    for program in (IO, IO + '-static'):
        record(program, 'plain', MANY)
        assert by_file()['calls'] > 100 and truncated_calls() == 0, (program, truncated_calls())
    script = os.path.join(DIR, 'script')
    with open(script, 'w', encoding='ascii') as f:
        f.write(f'#!/usr/bin/env {os.path.basename(IO)}\n')
    os.chmod(script, 0o700)
    p = subprocess.run([harness.DWELL, 'run', '-q', '-e', 'io', '-o', FILE, '--', script],
                       env={**oracles.ENVIRONMENT, 'PATH': f'{PROGRAMS}:/usr/bin:/bin'}, check=False)
    # It knows no such mode.
    assert p.returncode == 2 and rows('call') and truncated_calls() == 0, (p, rows('stack'))


@test
def what_children_map_is_met_when_they_do():
    """Met by the first call from there, that call's stack would be cut however long the
    program slept before."""
    for program in (LATE, LATE + '-static'):
        for ms in (100, 1000, 10000):
            record('sh', '-c', f'{program} {ms}; exit $?')
            callers = rows('stack')
            if truncated_calls() == 0:
                break
        assert truncated_calls() == 0, (program, callers)
        assert sum(row['calls'] for row in callers.values()
                   if {'io_late_writes', 'main'} <= {f['name'] for f in row['frames']}) == 12, callers


@test
def nobody_asks_for_more_than_the_kernel_moves_at_once():
    """Who wants all of a file names half of all numbers, which three times is more than there are."""
    script = ('import os, sys; a, b = (os.open(sys.argv[1] + x, os.O_RDWR | os.O_CREAT) for x in "ab"); '
              '[os.copy_file_range(a, b, 2**63 - 4096, 0, 0) for i in range(5)]')
    for way in 'io', 'tracer':
        record(sys.executable, '-c', script, MANY, options=['--source', way])
        asked = rows('call')['copy_file_range']
        assert asked['calls'] == 5 and asked['asked_bytes'] == 5 * 0x7ffff000, (way, asked)


@test
def without_stacks_the_same_is_counted():
    record(IO, 'callers', MANY)
    stacks = by_file()
    record(IO, 'callers', MANY, options=['--flat'])
    flat, names = by_file(), {row['name'] for row in rows('stack').values()}
    exact = ('calls', 'errors', 'asked_bytes', 'read_bytes', 'written_bytes', 'sizes')
    assert {k: flat[k] for k in exact} == {k: stacks[k] for k in exact}, (flat, stacks)
    assert names == {'[no stack]'} and truncated_calls() == 0, names
    p = dwell('run', '-q', '--flat', '-o', FILE, '--', 'true')
    assert p.returncode == 2 and '-e pcsamp' in p.stderr, p


@test
def small_calls_are_pointed_out():
    record(IO, 'callers', MANY)
    p = dwell('io', FILE)
    assert p.returncode == 0 and 'with a buffer of' not in p.stdout, p.stdout + p.stderr
    record('dd', 'if=/dev/zero', f'of={MANY}', 'bs=16', 'count=5000')
    p = dwell('io', FILE)
    assert '5,000 calls of write moved 16 B' in p.stdout, p.stdout


@test
def an_attached_program_is_counted_from_then_on():
    victim = subprocess.Popen([IO, 'forever', MANY], stdout=subprocess.PIPE)
    try:
        victim.stdout.readline()
        p = dwell('attach', '-q', '-e', 'io', '-o', FILE, '-p', str(victim.pid), '-d', '0.5')
        assert p.returncode == 0, p.stderr
    finally:
        victim.kill()
        victim.wait()
        victim.stdout.close()
    r = rows('file')[MANY]
    assert r['calls'] > 100 and r['written_bytes'] == 100 * r['calls'], r


@test
def the_first_calls_of_an_attached_program_have_whole_stacks():
    """One call in all: half of the calls would be without, if its files were met by it.  So it is of what it begins."""
    code = 'import time, zlib\nf = open("/etc/passwd")\nprint(flush=True)\nwhile True: time.sleep(.2); f.seek(0); f.read()'
    program = [sys.executable, '-c', code]
    for command in program, ['sh', '-c', shlex.join(program) + '; :']:
        with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as victim:
            try:
                victim.stdout.readline()
                p = dwell('attach', '-q', '-e', 'io', '-o', FILE, '-p', str(victim.pid), '-d', '1')
                assert p.returncode == 0, p.stderr
            finally:
                os.killpg(victim.pid, signal.SIGKILL)
        p = dwell('io', '--by', 'stack', FILE)
        assert 'read' in p.stdout and 'truncated  ' not in p.stdout, p.stdout


@test
def as_many_stacks_are_cut_as_reports_tell():
    p = dwell('run', '-e', 'io', '-o', FILE, '--', IO, 'deep', '/dev/zero')
    assert p.returncode == 0, p
    n = int(re.search(r'dwell: (\d+) stacks \(.* %\) are cut short', p.stderr)[1])
    total = rows('call')
    assert n == 100, (n, p.stderr, total)
    share = re.search(r'([\d.]+) % of io-calls', ' '.join(dwell('io', FILE).stdout.split()))
    assert share and abs(float(share[1]) - 100 * n / sum(r['calls'] for r in total.values())) < .1, (share, n, total)


def writes_below(pid, seconds, *more):
    p = dwell('attach', '-q', '-e', 'io', '-o', FILE, '-p', str(pid), '-d', str(seconds), *more)
    assert p.returncode == 0, p.stderr
    return MANY in rows('file')


@test
def descendants_that_run_already_are_counted_too():
    """A server's master makes those who serve before anybody looks."""
    with subprocess.Popen(['sh', '-c', f'sh -c "{IO} forever {MANY} & wait"; :'], stdout=subprocess.PIPE, start_new_session=True) as master:
        try:
            master.stdout.readline()
            assert any(writes_below(master.pid, seconds) for seconds in (0.3, 2, 8))
            assert not writes_below(master.pid, 0.1, '--follow', 'off')
        finally:
            os.killpg(master.pid, signal.SIGKILL)


@test
def no_call_of_an_attached_program_is_longer_than_it_was_observed():
    begin, is_over = time.monotonic(), threading.Event()
    victim = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, bufsize=0)

    def write():
        while not is_over.wait(0.1):
            victim.stdin.write(b'x')
    writer = threading.Thread(target=write)
    writer.start()
    try:
        p = dwell('attach', '-q', '-e', 'io', '-o', FILE, '-p', str(victim.pid), '-d', '0.5')
        assert p.returncode == 0, p.stderr
    finally:
        is_over.set()
        writer.join()
        victim.stdin.close()
        victim.wait()
    r = rows('call')['read']
    assert r['calls'] and max(d['from'] for d in r['durations_ns']) < (time.monotonic() - begin) * 1e9, r


@test
def a_wait_that_does_not_end_has_its_time():
    lasted, late = map(int, record(sys.executable, '-c', READS_UNTIL_THE_END).split())
    r = rows('call')['read']
    assert lasted - late - 1e6 < r['ns'], (lasted, late, r)


@test
def who_never_meets_anybody_or_is_never_read_from_waits_all_the_same():
    endless_waits_have_their_time()


@contextlib.contextmanager
def attached(pid):
    """The process is observed until the block ends."""
    with beside(harness.DWELL, 'attach', '-q', '-e', 'io', '-o', FILE, '-p', str(pid)) as p:
        wait_until(lambda: dwell('ctl', 'status', str(p.pid)).returncode == 0, 'it does not begin')
        yield
        p.send_signal(signal.SIGINT)
        assert p.wait(60) == 0, p


def reads_pipe(pid):
    """It waits in read()."""
    return text_of(pid, 'syscall').startswith('0 ') and is_asleep(pid)


@test
def who_waits_since_before_the_recording_has_the_time_of_it():
    """Of one that returns the stack is known, too."""
    for returns in False, True:
        with beside('cat', stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, bufsize=0) as victim:
            wait_until(lambda p=victim: reads_pipe(p.pid), 'it does not read')
            pipe = os.readlink(f'/proc/{victim.pid}/fd/0')
            with attached(victim.pid):
                time.sleep(0.5)
                if returns:
                    victim.stdin.close()
                    victim.wait()
        r = rows('call')['read']
        assert r['calls'] == returns and r['ns'] > 50e6, r
        assert rows('file')[pipe]['ns'] >= r['ns'], rows('file')
        assert ('[no stack]' in rows('stack', '--filter', f'function == "{pipe}"')) == (not returns), rows('stack')


@test
def what_hangs_is_listed_when_it_is_killed():
    io_recording.what_hangs_is_listed_when_it_is_killed()


@test
def what_hangs_already_is_listed_when_the_recording_ends():
    h = io_recording.Hanging()
    try:
        with attached(h.pid):
            began_ns = time.monotonic_ns()
            time.sleep(.3)
            least_ns = time.monotonic_ns() - began_ns
        h.check(io_recording.unfinished(), least_ns, True)
    finally:
        h.kill()


@test
def who_opens_a_fifo_in_vain_waits_all_the_same():
    fifo = os.path.join(DIR, 'nobody')
    os.mkfifo(fifo)
    code = f'import os, sys; sys.stdin.readline(); os.open({fifo!r}, os.O_RDONLY)'
    with beside(sys.executable, '-c', code, stdin=subprocess.PIPE, bufsize=0) as victim:
        wait_until(lambda: reads_pipe(victim.pid), 'it does not read')
        with attached(victim.pid):
            victim.stdin.write(b'go\n')
            wait_until(lambda: not reads_pipe(victim.pid) and is_asleep(victim.pid), 'it does not wait')
            time.sleep(0.5)
    r = rows('call')['openat']
    assert r['calls'] == 0 and r['ns'] > 50e6, r
    stacks = rows('stack', '--filter', 'function == "[syscall openat]"')
    assert '[no stack]' not in stacks and sum(row['ns'] for row in stacks.values()) == r['ns'], stacks


@test
def thousands_of_files_have_names():
    record(IO, 'files', DIR)
    names = {n for n in rows('file') if n.startswith(os.path.join(DIR, 'f'))}
    assert len(names) == 3000, len(names)


if __name__ == '__main__':
    if not IS_ROOT:
        sys.exit(skip_all('only root may load BPF programs'))
    if not harness.may_record('io', 'io'):
        sys.exit(skip_all(dwell('run', '-n', '-e', 'io', '--', 'true').stderr.strip()))
    sys.exit(run_all(TESTS, words=sys.argv[3:]))
