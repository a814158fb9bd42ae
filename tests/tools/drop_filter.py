"""Loss without a lossy device, for loads: socket filters that drop segments as they arrive."""

import ctypes
import socket
import struct

SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27

# Classic BPF: (code, jump if true, jump if false, number). Segments begin with their TCP header.
DROP_ALL = [(0x06, 0, 0, 0)]
DROP_PAYLOAD_D = [(0x30, 0, 0, 12), (0x54, 0, 0, 0xF0), (0x74, 0, 0, 2), (0x07, 0, 0, 0), (0x50, 0, 0, 0),
                  (0x15, 0, 1, ord("D")), (0x06, 0, 0, 0), (0x06, 0, 0, 0xFFFFFFFF)]


def attach(end, program):
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    end.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", len(program), ctypes.addressof(code)))


def detach(end):
    end.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
