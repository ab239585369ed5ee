# SPDX-License-Identifier: Apache-2.0
"""What the BPF maps of a process hold, asked of the kernel."""
import ctypes
import glob
import os

CALL = {'x86_64': 321, 'aarch64': 280}[os.uname().machine]
GET_NEXT_KEY, GET_FD_BY_ID, GET_INFO = 4, 14, 15
INFO_BYTES, NAME_AT, NAME_BYTES = 128, 24, 16
libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, *words):
    """words: of the union of all arguments; as some are pointers."""
    attr = (ctypes.c_uint64 * 16)(*words)
    return libc.syscall(CALL, command, attr, ctypes.sizeof(attr))


def name_of(fd):
    info = ctypes.create_string_buffer(INFO_BYTES)
    if bpf(GET_INFO, fd | INFO_BYTES << 32, ctypes.addressof(info)) < 0:
        return ''
    return info.raw[NAME_AT:NAME_AT + NAME_BYTES].rstrip(b'\0').decode()


def open_map(pid, name):
    """A descriptor of that map of the process."""
    for path in glob.glob(f'/proc/{pid}/fdinfo/*'):
        with open(path, encoding='ascii') as f:
            ids = [int(line.split()[1]) for line in f if line.startswith('map_id:')]
        fd = bpf(GET_FD_BY_ID, ids[0]) if ids else -1
        if fd >= 0 and name_of(fd) == name:
            return fd
        if fd >= 0:
            os.close(fd)
    raise FileNotFoundError(f'process {pid} has no BPF map {name}')


def n_keys(pid, name, key_bytes):
    """How many there are in a hash; some may come and go meanwhile."""
    fd = open_map(pid, name)
    key, n = ctypes.create_string_buffer(key_bytes), 0
    at = 0
    while bpf(GET_NEXT_KEY, fd, at, ctypes.addressof(key)) == 0:
        at = ctypes.addressof(key)
        n += 1
    os.close(fd)
    return n
