"""Connections between two processes, for tests of who owns them. The server closes each with data unread, so that it is aborted, or
answers and waits until the client has closed."""

import contextlib
import os
import socket


@contextlib.contextmanager
def server_on(listener, serve):
    """(its process) A child that accepts connections and gives each to `serve`, until it is sent one that carries nothing."""
    child = os.fork()
    if child == 0:
        while True:
            end, _ = listener.accept()
            if not end.recv(1, socket.MSG_PEEK):
                os._exit(0)
            serve(end)
            end.close()
    try:
        yield child
    finally:
        socket.create_connection(listener.getsockname()).close()
        os.waitpid(child, 0)


def leave_unread(end):
    """The client's data are there, and stay there."""


def answer(end):
    data = end.recv(65536)
    end.sendall(data * 2)
    end.recv(1)


def abort(listener):
    """The client's port of a connection that the server aborts."""
    with socket.create_connection(listener.getsockname()) as client:
        near = client.getsockname()[1]
        client.sendall(b"x" * 100)
        with contextlib.suppress(ConnectionResetError):
            client.recv(1)
    return near
