"""SIGKILL at many moments of a real run: started again, it ends in the same bytes."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import SMALL, Home

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("server"), pytest.mark.timeout(600)]
PARTS = 15
"""Fewer parts than a run of this size leaves behind; each is a moment to be killed after."""


def test_a_run_killed_at_fifteen_moments_ends_in_the_same_bytes(tmp_path: Path, prefect_api: str) -> None:
    undisturbed = Home(tmp_path / "undisturbed", prefect_api)
    undisturbed.json("build", *SMALL)
    expected = undisturbed.files()
    assert sum(name.endswith(".parquet") and "rejected" not in name for name in expected) > PARTS
    home = Home(tmp_path / "killed", prefect_api)
    kills = 0
    for moment in range(PARTS):
        child = home.start("build", *SMALL)
        while count_parts(home) <= moment and child.poll() is None:
            time.sleep(0.002)
        # A little later each time, so that writing, renaming and planning are all hit.
        time.sleep(0.013 * moment)
        if child.poll() is None:
            child.send_signal(signal.SIGKILL)
            kills += 1
        child.communicate()
    assert kills >= 10
    home.json("build", *SMALL)
    assert home.files() == expected
    assert not [path for path in home.path.rglob(".*") if path.name.endswith((".tmp", ".part", ".partial"))]


def count_parts(home: Home) -> int:
    """Finished parts of all stages."""
    return sum(1 for path in (home.path / "runs").rglob("part-*.parquet") if path.parent.name != "rejected")
