#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A file system that passes all requests on to a directory, until a number of bytes is written.

usage: failing_fs.py DIRECTORY MOUNT BYTES EIO          that write and all later ones fail with EIO
       failing_fs.py DIRECTORY MOUNT BYTES SECONDS      that write takes so long; later ones do not

It speaks the part of the protocol of /dev/fuse (include/uapi/linux/fuse.h, version 7.31) that a recorder needs. It
prints a line when it is mounted and another when a write hangs, and ends when it is unmounted. It serves one request
after the other, because a disk that hangs hangs for all its users.
"""
import ctypes
import errno
import os
import stat
import struct
import sys
import time

IN, OUT, ATTR = struct.Struct('<IIQQIIII'), struct.Struct('<IiQ'), struct.Struct('<6Q10I')
MAX_WRITE = 128 << 10
ROOT = 1
FORGET, BATCH_FORGET, INTERRUPT = 2, 42, 36  # are not answered
BIG_WRITES = 1 << 5
SET_MODE, SET_SIZE = 1 << 0, 1 << 3


def text(data):
    return os.fsdecode(data.split(b'\0', 1)[0])


class FailingFs:
    def __init__(self, directory, limit, failure):
        self.paths = {ROOT: directory}
        self.left, self.failure = limit, failure
        self.files = {}
        self.calls = {1: self.lookup, 3: self.getattr, 4: self.setattr, 9: self.mkdir, 10: self.unlink,
                      11: self.rmdir, 12: self.rename, 45: self.rename2, 14: self.open, 15: self.read,
                      16: self.write, 18: self.release, 25: self.nothing, 26: self.init, 35: self.create}

    def nothing(self, node, body):
        return b''

    def init(self, node, body):
        return struct.pack('<IIIIHHIIHH8I', 7, 31, 0, BIG_WRITES, 16, 12, MAX_WRITE, 1, 0, 0, *[0] * 8)

    def attributes(self, path):
        st = os.lstat(path)
        times = [int(t) for t in (st.st_atime, st.st_mtime, st.st_ctime)]
        return ATTR.pack(st.st_ino, st.st_size, st.st_blocks, *times, 0, 0, 0, st.st_mode, st.st_nlink,
                         st.st_uid, st.st_gid, 0, 4096, 0)

    def entry(self, path):
        node = os.lstat(path).st_ino + ROOT + 1
        self.paths[node] = path
        return struct.pack('<4Q2I', node, 0, 0, 0, 0, 0) + self.attributes(path)

    def beside(self, node, name):
        return os.path.join(self.paths[node], name)

    def lookup(self, node, body):
        return self.entry(self.beside(node, text(body)))

    def getattr(self, node, body):
        return struct.pack('<QII', 0, 0, 0) + self.attributes(self.paths[node])

    def setattr(self, node, body):
        valid, _, _, size = struct.unpack_from('<IIQQ', body)
        if valid & SET_SIZE:
            os.truncate(self.paths[node], size)
        if valid & SET_MODE:
            os.chmod(self.paths[node], stat.S_IMODE(struct.unpack_from('<I', body, 68)[0]))
        return self.getattr(node, body)

    def mkdir(self, node, body):
        path = self.beside(node, text(body[8:]))
        os.mkdir(path, struct.unpack_from('<I', body)[0])
        return self.entry(path)

    def unlink(self, node, body):
        os.unlink(self.beside(node, text(body)))
        return b''

    def rmdir(self, node, body):
        os.rmdir(self.beside(node, text(body)))
        return b''

    def move(self, node, target, names, replace):
        old, new = [os.fsdecode(name) for name in names.split(b'\0')[:2]]
        old, new = self.beside(node, old), self.beside(target, new)
        if not replace and os.path.lexists(new):
            raise FileExistsError(errno.EEXIST, new)
        os.rename(old, new)
        for n, path in self.paths.items():
            if path == old or path.startswith(old + '/'):
                self.paths[n] = new + path[len(old):]
        return b''

    def rename(self, node, body):
        return self.move(node, struct.unpack_from('<Q', body)[0], body[8:], True)

    def rename2(self, node, body):
        target, flags = struct.unpack_from('<QI', body)
        return self.move(node, target, body[16:], not flags)

    def opened(self, path, flags, mode=0):
        fd = os.open(path, flags & ~os.O_NOFOLLOW, mode)
        self.files[fd] = path
        return struct.pack('<QII', fd, 0, 0)

    def open(self, node, body):
        return self.opened(self.paths[node], struct.unpack_from('<I', body)[0] & ~os.O_APPEND)

    def create(self, node, body):
        flags, mode = struct.unpack_from('<II', body)
        path = self.beside(node, text(body[16:]))
        handle = self.opened(path, flags | os.O_CREAT, mode)
        return self.entry(path) + handle

    def release(self, node, body):
        fd = struct.unpack_from('<Q', body)[0]
        del self.files[fd]
        os.close(fd)
        return b''

    def read(self, node, body):
        fd, offset, size = struct.unpack_from('<QQI', body)
        return os.pread(fd, size, offset)

    def write(self, node, body):
        fd, offset, size = struct.unpack_from('<QQI', body)
        self.left -= size
        if self.left < 0 and self.failure == 'EIO':
            raise OSError(errno.EIO, 'as asked')
        if self.left < 0 and self.failure:
            print('stands still', flush=True)
            time.sleep(float(self.failure))
            self.failure = None
        return struct.pack('<II', os.pwrite(fd, body[40:40 + size], offset), 0)

    def answer(self, request):
        """Returns the answer to a request, or None."""
        _, opcode, unique, node, *_ = IN.unpack_from(request)
        if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
            return None
        try:
            if opcode not in self.calls:
                raise OSError(errno.ENOSYS, 'unknown')
            body = self.calls[opcode](node, request[IN.size:])
            return OUT.pack(OUT.size + len(body), 0, unique) + body
        except OSError as e:
            return OUT.pack(OUT.size, -e.errno, unique)


def mount(where):
    fd = os.open('/dev/fuse', os.O_RDWR)
    libc = ctypes.CDLL(None, use_errno=True)
    options = f'fd={fd},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}'
    if libc.mount(b'failing_fs', os.fsencode(where), b'fuse', 0, options.encode()):
        raise OSError(ctypes.get_errno(), 'mount')
    return fd


def main():
    directory, where, limit, failure = sys.argv[1:]
    try:
        fd = mount(where)
    except OSError as e:
        print(f'cannot mount: {e.strerror}', flush=True)
        return 1
    fs = FailingFs(directory, int(limit), failure)
    print('mounted', flush=True)
    while True:
        try:
            answer = fs.answer(os.read(fd, MAX_WRITE + 8192))
            if answer:
                os.write(fd, answer)
        except OSError as e:
            if e.errno == errno.ENODEV:  # unmounted
                return 0
            if e.errno not in (errno.ENOENT, errno.EINTR, errno.EAGAIN):  # it was given up meanwhile
                raise


if __name__ == '__main__':
    sys.exit(main())
