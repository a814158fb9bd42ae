"""A network device that stands still while nobody reads: SLIP over a pseudo terminal. So a queue can be filled on purpose."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
import tty

N_SLIP, SIOCGIFNAME = 1, 0x8910


class SlowLine:
    """Lives as long as its `with`; 10.78.0.2 is at the other end."""

    def __enter__(self):
        subprocess.run(["modprobe", "slip"], capture_output=True)
        self.master, slave = pty.openpty()
        tty.setraw(slave)
        tty.setraw(self.master)
        try:
            fcntl.ioctl(slave, termios.TIOCSETD, struct.pack("i", N_SLIP))
        except OSError as error:
            os.close(slave)
            os.close(self.master)
            raise RuntimeError(f"no SLIP here: {error}") from error
        self.slave = slave
        self.name = fcntl.ioctl(slave, SIOCGIFNAME, bytes(64)).split(b"\0")[0].decode()
        subprocess.run(["ip", "addr", "add", "10.78.0.1", "peer", "10.78.0.2", "dev", self.name], check=True)
        subprocess.run(["ip", "link", "set", self.name, "up", "mtu", "1006"], check=True)
        return self

    def flow(self):
        """From now on everything that comes is read."""
        def read():
            try:
                while os.read(self.master, 65536):
                    pass
            except OSError:
                pass
        threading.Thread(target=read, daemon=True).start()

    def __exit__(self, *_):
        os.close(self.slave)
        os.close(self.master)
