"""Runs every benchmark of this folder, one after the other, and prints one table.

Each script is a program of its own that checks its answers and takes ``--json``. Names that begin
with an underscore are no benchmarks. Exit code 1 if a script fails or checked nothing.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HEAD = ("benchmark", "ours", "peer", "unit", "ratio", "checked")


def run(script: Path) -> dict[str, Any] | None:
    """The JSON object that a script prints; None, with a word on standard error, if it fails."""
    command = [sys.executable, str(script), "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    try:
        result: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        result = {}
    if done.returncode or not result.get("checked"):
        print(f"{script.name} failed with exit code {done.returncode}", file=sys.stderr)
        return None
    return result


def row(name: str, result: dict[str, Any] | None) -> tuple[str, ...]:
    """One line of the table."""
    if result is None:
        return (name, *["failed"] * (len(HEAD) - 1))
    return (
        name,
        f"{result['ours']:.4g}",
        f"{result['peer']:.4g}",
        result["unit"],
        f"{result['ratio']:.3g}",
        f"{result['checked']:,}",
    )


def main() -> int:
    """Run all, print the table, and return the exit code."""
    rows: list[tuple[str, ...]] = [HEAD]
    results = []
    for script in sorted(HERE.glob("[!_]*.py")):
        print(f"{script.stem} ...", file=sys.stderr, flush=True)
        results.append(run(script))
        rows.append(row(script.stem, results[-1]))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)))
    return 1 if None in results else 0


if __name__ == "__main__":
    sys.exit(main())
