"""Debian kernels for guests: downloaded and unpacked once into a cache, never installed.

    ~/.cache/flowtap/guests/6.1/      one folder per kernel, thrown away when Debian has a newer one
        version                       what is in it: "6.1.0-54-amd64 6.1.190-1"; written last
        root/                         the unpacked package, its modules decompressed
        vmlinux                       the kernel as ELF: boots in a third of the time of the bzImage
        initrd.cpio                   busybox, the modules for 9p and overlay, and ./init
"""

import fcntl
import lzma
import os
import shutil
import struct
import subprocess
import tempfile
import zlib
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
META_PACKAGES = {"6.1": "linux-image-amd64", "6.12": "linux-image-6.12-amd64"}
BOOT_MODULES = ["virtio_pci", "9pnet_virtio", "9p", "overlay"]
APPLETS = ["sh", "mount", "insmod", "mkdir", "switch_root", "cat"]


def cache():
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "flowtap" / "guests"


def prepare(kernel):
    """The folder of a kernel ready to boot, and the kernel's release."""
    folder = cache() / kernel
    with locked(kernel):
        wanted = newest(kernel)
        stamp = folder / "version"
        have = stamp.read_text().strip() if stamp.exists() else ""
        if not have or (wanted and wanted != have):
            if not wanted:  # a fresh machine has no list of packages
                output("apt-get", "-qq", "update")
                wanted = newest(kernel)
            if not wanted:
                raise RuntimeError(f"apt knows no package '{META_PACKAGES[kernel]}'")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            have = wanted
            unpack(folder, release_of(have))
            stamp.write_text(have + "\n")
        release = release_of(have)
        make_initrd(folder, release)  # cheap, and ./init may have changed
    return folder, release


@contextmanager
def locked(kernel):
    """Two test runs that start together must not both unpack."""
    cache().mkdir(parents=True, exist_ok=True)
    with open(cache() / f"{kernel}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def release_of(version):
    return version.split()[0]


def newest(kernel):
    """'RELEASE PACKAGE-VERSION' of the kernel behind the meta package; empty when apt has none."""
    text = output("apt-cache", "depends", META_PACKAGES[kernel], check=False, stderr=subprocess.DEVNULL)
    packages = [line.split()[1] for line in text.splitlines() if "Depends: linux-image-" in line]
    if not packages:
        return ""
    policy = output("apt-cache", "policy", packages[0])
    candidates = [line.split()[1] for line in policy.splitlines() if "Candidate:" in line]
    return f"{packages[0].removeprefix('linux-image-')} {candidates[0]}" if candidates else ""


def output(*command, check=True, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=check, **options).stdout


def unpack(folder, release):
    print(f"preparing a guest with Linux {release}", flush=True)
    with tempfile.TemporaryDirectory() as download:
        os.chmod(download, 0o777)  # apt downloads as a user of its own
        output("apt-get", "-qq", "download", f"linux-image-{release}", cwd=download)
        subprocess.run(["dpkg", "-x", *Path(download).glob("*.deb"), folder / "root"], check=True)
    # modprobe of the initramfs cannot decompress, and the host does it faster.
    compressed = [str(p) for p in (folder / "root").glob("lib/modules/**/*.ko.xz")]
    if compressed:
        subprocess.run(["xargs", "-P", "2", "-n", "200", "xz", "-d"], input="\n".join(compressed), text=True, check=True)
    subprocess.run(["depmod", "-b", folder / "root", release], check=True)
    (folder / "vmlinux").write_bytes(vmlinux((folder / "root" / "boot" / f"vmlinuz-{release}").read_bytes()))


def vmlinux(image):
    """The ELF file inside a bzImage, found by the fields payload_offset and payload_length of its header."""
    sectors = (image[0x1F1] or 4) + 1
    offset, length = struct.unpack_from("<II", image, 0x248)
    payload = image[sectors * 512 + offset:][:length]
    if payload.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor().decompress(payload)
    if payload.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(31).decompress(payload)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):  # the last four bytes are the length
        return subprocess.run(["zstd", "-dc"], input=payload[:-4], stdout=subprocess.PIPE, check=True).stdout
    raise RuntimeError(f"a kernel compressed in an unknown way: {payload[:6].hex()}")


def make_initrd(folder, release):
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for directory in ("bin", "modules", "proc", "sys", "dev", "root"):
            (root / directory).mkdir()
        shutil.copy("/bin/busybox", root / "bin" / "busybox")
        for applet in APPLETS:
            (root / "bin" / applet).symlink_to("busybox")
        order = []
        for module in BOOT_MODULES:
            lines = output("modprobe", "-d", folder / "root", "-S", release, "--show-depends", module)
            for line in lines.splitlines():
                word, _, path = line.strip().partition(" ")
                if word == "insmod" and path.strip() not in order:
                    order.append(path.strip())
        for path in order:
            shutil.copy(path, root / "modules")
        (root / "modules" / "order").write_text("".join(Path(p).name + "\n" for p in order))
        shutil.copy(HERE / "init", root / "init")
        (root / "init").chmod(0o755)
        names = "\n".join(str(p.relative_to(root)) for p in sorted(root.rglob("*")))
        archive = subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], input=names.encode(), cwd=root, stdout=subprocess.PIPE, check=True)
        new = folder / "initrd.cpio.new"
        new.write_bytes(archive.stdout)
        new.rename(folder / "initrd.cpio")  # a guest that is booting keeps the old one
