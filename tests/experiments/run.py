# SPDX-License-Identifier: MIT OR Apache-2.0
"""Does the documents' experiments again and writes a page and a JSON file.

usage: run.py [--out out/experiments] [--only NAME]    (NAME: a part of a module's name)
"""

import argparse
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from time import perf_counter

import page
import scenes
import weft

MODULES = (
    "etzmuss.statics",
    "etzmuss.patterns",
    "etzmuss.material",
    "etzmuss.integrators",
    "etzmuss.contact",
    "baraff_witkin",
    "cords",
    "hayler",
)


def failed(name: str) -> page.Finding:
    """Entry of the page for an experiment that has ended in an error."""
    text = traceback.format_exc().strip().splitlines()[-1]
    return page.Finding(name, name, "", f"It ended in an error: {text}", page.SKIPPED, "")


def perform(only: str) -> list[page.Finding]:
    """All experiments whose module has `only` in its name."""
    findings = []
    for name in MODULES:
        if only not in name:
            continue
        for experiment in import_module(name).ALL:
            start = perf_counter()
            try:
                finding = experiment()
            except Exception:
                traceback.print_exc()
                finding = failed(f"{name}: {experiment.__name__}")
            finding.seconds = perf_counter() - start
            print(f"{finding.seconds:6.1f} s  {finding.verdict:15}  {finding.name}", flush=True)
            findings.append(finding)
    return findings


def main() -> int:
    """Runs, writes, and says where; fails where an experiment did."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("out/experiments"))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    findings = perform(options.only)
    facts = {
        "weft": weft.__version__,
        "processors": os.cpu_count(),
        "integrators": " ".join(scenes.offered("integrator")),
        "models": " ".join(scenes.offered("model")),
        "solvers": " ".join(scenes.offered("solver")) or "newton",
    }
    page.write(options.out, findings, facts)
    print(f"written to {options.out / 'index.html'}")
    return int(any("ended in an error" in finding.measured for finding in findings))


if __name__ == "__main__":
    sys.exit(main())
