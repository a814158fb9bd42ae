"""What kernels are known to lack, by their configuration and version, not by flowtap's own answer: a feature that flowtap failed to
find would otherwise be one that is neither used nor tested."""

import os
import re
import subprocess
from pathlib import Path

# CONFIG_FPROBE and CONFIG_KPROBES are not set; what refuses fentry there is not Linux but the hypervisor, which lets no code be changed.
# Debian sets CONFIG_FPROBE since 6.5; uprobe.multi came with Linux 6.6. Lockdown forbids write_user();
# Debian does not set CONFIG_BPF_KPROBE_OVERRIDE, which override() needs.
LACKING = {
    "6.18-fc": {"kprobe", "kprobe.multi", "fentry", "write_user()", "override()"},
    "guest-6.1": {"kprobe.multi", "uprobe.multi", "override()"},
    "guest-6.12": {"override()"},
}
FLOWTAP = Path(__file__).resolve().parent.parent / "build" / "flowtap"


def kernel():
    """Guests are called by the name they were started with; their kernels get updates."""
    if "FLOWTAP_KERNEL" in os.environ:
        return os.environ["FLOWTAP_KERNEL"]
    return re.sub(r"^(\d+\.\d+)[^-]*(-[a-z]+)?.*", r"\1\2", os.uname().release)


def answers():
    """{feature: whether flowtap says that this kernel has it}"""
    text = subprocess.run([FLOWTAP, "--info"], capture_output=True, text=True).stdout
    return {name: word == "yes" for name, word in re.findall(r"^  ([^:\n]+): (yes|no)$", text, re.M)}


def lacks(feature):
    """On a kernel that is not known, flowtap has to be believed."""
    return feature in LACKING[kernel()] if kernel() in LACKING else not answers().get(feature, False)
