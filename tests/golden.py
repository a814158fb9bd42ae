#!/usr/bin/env python3
"""Golden files: what each compiler stage makes of a small script, for a machine that a file describes.

tests/codegen/NAME.bt is the script, NAME.golden what the stages named in its first line print:
    // stages: types ir bpf
`tests/golden.py` itself writes the files anew; a reviewer reads the difference.
"""

import subprocess
import sys
from pathlib import Path

TARGET = "tests/target/small.target"


def compile_stages(root, script):
    first = script.read_text().split("\n", 1)[0]
    stages = first.split("stages:")[1].split() if "stages:" in first else ["ir", "bpf"]
    command = [root / "build" / "flowtap", "--target", root / TARGET, "-d", ",".join(stages), script.relative_to(root)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root)
    return done.stdout + done.stderr


def run(root, results):
    for script in sorted((root / "tests" / "codegen").glob("*.bt")):
        golden = script.with_suffix(".golden")
        expected = golden.read_text() if golden.exists() else ""
        actual = compile_stages(root, script)
        problem = "" if actual == expected else f"  expected:\n{expected}\n  found:\n{actual}\n  tests/golden.py updates it"
        results.add(f"golden {script.stem}", problem)


def main():
    root = Path(__file__).resolve().parent.parent
    for script in sorted((root / "tests" / "codegen").glob("*.bt")):
        script.with_suffix(".golden").write_text(compile_stages(root, script))


if __name__ == "__main__":
    sys.exit(main())
