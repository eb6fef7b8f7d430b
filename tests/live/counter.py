# SPDX-License-Identifier: Apache-2.0
"""Counters of the kernel, open beside a recorder: they count and take no samples, so tests can check the
recorder."""
import ctypes
import os
import platform
import struct

from lab import TRACING, Skip

SYSCALLS = {'x86_64': 298, 'aarch64': 241}  # perf_event_open
SET_FILTER = 0x40082406  # PERF_EVENT_IOC_SET_FILTER, include/uapi/linux/perf_event.h
TYPE_SOFTWARE, TYPE_TRACEPOINT = 1, 2
PAGE_FAULTS, CONTEXT_SWITCHES = 2, 3
INHERIT = 1 << 1
ATTR_SIZE = 64  # PERF_ATTR_SIZE_VER0


def tracepoint_id(name):
    """Returns the number of a tracepoint "system:name", or None."""
    try:
        with open(f'{TRACING}/events/{name.replace(":", "/")}/id', encoding='ascii') as f:
            return int(f.read())
    except OSError:
        return None


class Counter:
    """Counts an event in a task, and with `inherit` in all tasks that it starts from now on."""

    def __init__(self, kind, config, pid, inherit, filter_text=None):
        if platform.machine() not in SYSCALLS:
            raise Skip(f'perf_event_open has no number here for {platform.machine()}')
        libc = ctypes.CDLL(None, use_errno=True)
        attr = struct.pack('=IIQQQQQIIQ', kind, ATTR_SIZE, config, 0, 0, 0, INHERIT if inherit else 0, 0, 0, 0)
        self.fd = libc.syscall(SYSCALLS[platform.machine()], attr, pid, -1, -1, 0)
        if self.fd < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), f'counter {kind}:{config} of {pid}')
        if filter_text:
            result = libc.ioctl(self.fd, ctypes.c_ulong(SET_FILTER), ctypes.c_char_p(filter_text.encode()))
            assert result == 0, f'filter {filter_text}: {os.strerror(ctypes.get_errno())}'

    def read(self):
        return struct.unpack('=Q', os.read(self.fd, 8))[0]

    def close(self):
        os.close(self.fd)
