"""A small chaos run on a real cluster."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.cluster]

ROOT = Path(__file__).parents[2]
KINDS = {"worker killed", "driver killed", "result cut off"}


def test_three_faults_hit_and_the_artefacts_are_the_same() -> None:
    done = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "chaos",
                "--json",
                "--faults",
                "3",
                "--nodes",
                "2",
                "--size",
                "small",
            ),
            *("--only", ",".join(KINDS)),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert not report["failed"]
    assert report["differing"] == []
    assert report["compared"] >= 3
    outcomes = {outcome["kind"]: outcome for outcome in report["outcomes"]}
    assert set(outcomes) == KINDS
    assert all(outcome["victim"] and not outcome["missed"] for outcome in outcomes.values())
    assert outcomes["driver killed"]["starts"] == 1
    assert outcomes["worker killed"]["starts"] == 0
    assert outcomes["result cut off"]["again"] == 1
