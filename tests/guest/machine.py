"""Boots a kernel under QEMU and runs one command in it, on the host's root file system.

Command, output and exit status pass through files in a folder that both sides see:

    command, directory    written by the host
    started               made by the guest when the command begins
    out                   what the command prints; followed while it runs
    status                its exit status; missing when the guest crashed or ran out of time
"""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import kernels

CRASHED = 125  # the status of a command whose guest did not live to tell

KERNEL_ARGUMENTS = ("console=ttyS0,115200 loglevel=4 panic=-1 mitigations=off tsc=reliable no_timer_check nokaslr "
                    "audit=0 cryptomgr.notests random.trust_cpu=on rcupdate.rcu_expedited=1")


@dataclass
class Options:
    arguments: str = ""    # more kernel arguments, such as lockdown=confidentiality
    memory: str = "2G"
    cpus: int = 2
    possible_cpus: int = 0  # how many the kernel prepares for; 6.12 prepares for no more than there are
    time_limit: float = 600
    disks: bool = False    # disks of 1 GB, empty: NVMe, NVMe that does 2 I/O per second (namespace 2), SCSI


def run(kernel, command, options=Options(), write=None):
    """The command's exit status. What it prints goes to `write` piece by piece."""
    write = write or (lambda text: (sys.stdout.write(text), sys.stdout.flush()))
    folder, _ = kernels.prepare(kernel)
    with tempfile.TemporaryDirectory(prefix="flowtap-guest-") as name:
        work = Path(name)
        share = work / "share"
        share.mkdir()
        (share / "command").write_text(command + "\n")
        (share / "directory").write_text(os.getcwd() + "\n")
        with open(work / "qemu", "w") as errors:
            machine = subprocess.Popen(qemu(folder, work, options), stdin=subprocess.DEVNULL, stdout=errors, stderr=errors)
        try:
            follow(machine, share / "out", options.time_limit, write)
        finally:
            machine.kill()
            machine.wait()
        if (share / "status").exists():
            return int((share / "status").read_text())
        console = (work / "console").read_text(errors="replace") if (work / "console").exists() else ""
        write(f"the guest with Linux {kernel} did not finish; its console ends:\n"
              f"{console[-3000:]}{(work / 'qemu').read_text()}\n")
        return CRASHED


def follow(machine, path, time_limit, write):
    ends, seen = time.monotonic() + time_limit, 0
    while True:
        over = machine.poll() is not None or time.monotonic() > ends
        if path.exists():
            with open(path, "rb") as out:
                out.seek(seen)
                piece = out.read()
            whole = piece if over else piece[:piece.rfind(b"\n") + 1]
            seen += len(whole)
            if whole:
                write(whole.decode(errors="replace"))
        if over:
            return
        time.sleep(0.1)


def qemu(folder, work, options):
    # thread=single: with a thread per CPU, guests crash when the kernel patches its own code, as
    # kprobes and ftrace make it do.
    command = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
               "-machine", "q35", "-accel", "tcg,thread=single,tb-size=512", "-cpu", "max,la57=off",
               "-smp", f"{options.cpus},maxcpus={max(options.cpus, options.possible_cpus)}", "-m", options.memory,
               "-kernel", folder / "vmlinux", "-initrd", folder / "initrd.cpio",
               "-serial", f"file:{work}/console", "-device", "isa-debug-exit,iobase=0xf4,iosize=0x4",
               "-append", f"{KERNEL_ARGUMENTS} {options.arguments}"]
    shares = {"host": "/,readonly=on,multidevs=remap", "share": f"{work}/share",
              "modules": f"{folder}/root/lib/modules,readonly=on"}
    for tag, path in shares.items():
        command += ["-fsdev", f"local,id={tag},security_model=none,path={path}", "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
    if options.disks:
        for disk, limit in (("nvme", ""), ("slow", ",throttling.iops-total=2"), ("scsi", "")):
            with open(work / disk, "w") as image:
                image.truncate(1 << 30)
            command += ["-drive", f"file={work}/{disk},if=none,id={disk},format=raw,cache=unsafe{limit}"]
        for device in ("nvme,id=controller,serial=guest", "nvme-ns,drive=nvme,bus=controller,nsid=1", "nvme-ns,drive=slow,bus=controller,nsid=2",
                       "virtio-scsi-pci,id=bus", "scsi-hd,drive=scsi,bus=bus.0"):
            command += ["-device", device]
    return [str(word) for word in command]
