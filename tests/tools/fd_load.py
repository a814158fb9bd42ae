"""Descriptors handed over through Unix sockets, within a process and to a child, in all the ways there are. Prints each
with the inodes that fstat(2) gives as JSON."""

import array
import ctypes
import json
import os
import socket
import struct

libc = ctypes.CDLL(None, use_errno=True)


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]


class Message(ctypes.Structure):
    _fields_ = [("name", ctypes.c_void_p), ("namelen", ctypes.c_int), ("iov", ctypes.POINTER(Vector)), ("iovlen", ctypes.c_size_t),
                ("control", ctypes.c_char_p), ("controllen", ctypes.c_size_t), ("flags", ctypes.c_long), ("sent", ctypes.c_uint)]


def inode(fd):
    return os.fstat(fd).st_ino


def rows(action, end, fds, names):
    return [{"action": action, "pid": os.getpid(), "socket": inode(end.fileno()), "fd": fd, "inode": inode(fd), "kind": kind, "name": name}
            for fd, (kind, name) in zip(fds, names)]


def several(call, end, messages):
    """sendmmsg(2) or recvmmsg(2), one byte a message; the control parts."""
    byte = ctypes.create_string_buffer(1)
    vector = Vector(ctypes.cast(byte, ctypes.c_void_p), 1)
    kept = [ctypes.create_string_buffer(control, len(control)) for control in messages]
    array_of = (Message * len(messages))(*(Message(None, 0, ctypes.pointer(vector), 1, ctypes.cast(control, ctypes.c_char_p), len(control))
                                           for control in kept))
    if call(end.fileno(), array_of, len(messages), 0, None) != len(messages):
        raise OSError(ctypes.get_errno())
    return [control.raw for control in kept]


def in_one_process(opened, names):
    near, far = socket.socketpair()
    credentials = struct.pack("iII", os.getpid(), os.getuid(), os.getgid())
    near.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS, credentials),
                          (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", opened))])
    received = socket.recv_fds(far, 1, len(opened))[1]
    done = rows("send", near, opened, names) + rows("recv", far, received, names)
    near.send(b"x")
    socket.recv_fds(far, 1, len(opened))  # none comes
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    right = struct.pack("Nii", 20, socket.SOL_SOCKET, socket.SCM_RIGHTS)
    several(libc.sendmmsg, near, [right + struct.pack("i4x", fd) for fd in opened[:3]])
    received = [struct.unpack_from("i", control, 16)[0] for control in several(libc.recvmmsg, far, [bytes(24)] * 3)]
    done += rows("send", near, opened[:3], names) + rows("recv", far, received, names)
    far.close()
    try:
        socket.send_fds(near, [b"x"], opened)
    except ConnectionRefusedError:
        pass  # a call that failed hands nothing over
    return done


def to_a_child(opened, names):
    near, far = socket.socketpair()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        for fd in opened:
            os.close(fd)
        received = socket.recv_fds(far, 1, len(opened))[1]
        os.write(write, json.dumps(rows("recv", far, received, names)).encode())
        os._exit(0)
    socket.send_fds(near, [b"x"], opened)
    os.waitpid(child, 0)
    return rows("send", near, opened, names) + json.loads(os.read(read, 65536)), child


def main():
    opened = [os.open("/dev/null", os.O_RDONLY), os.open("/proc/self/status", os.O_RDONLY), os.pipe()[0],
              socket.socket().detach(), os.open("/usr", os.O_RDONLY), os.eventfd(0)]
    names = [("device", "null"), ("file", "status"), ("pipe", ""), ("socket", "TCP"), ("directory", "usr"), ("other", "[eventfd]")]
    calls = in_one_process(opened, names)
    more, child = to_a_child(opened, names)
    print(json.dumps({"pids": [os.getpid(), child], "calls": calls + more}))


main()
