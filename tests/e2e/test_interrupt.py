"""Ctrl-C in a terminal reaches every process of a run: one line, no orphans, and the same command continues."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import QUICK, ROOT, SMALL, Home

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("build")]


@pytest.mark.parametrize(
    "folder",
    [pytest.param("runs/sample/retrieve/manifest.json", marks=pytest.mark.nightly), "runs/sample/synthesize/drafts"],
)
def test_an_interrupted_run_says_so_and_continues_with_another_number_of_workers(
    folder: str, built: tuple[Home, dict[str, Any]], tmp_path: Path
) -> None:
    """All that it makes is the same, byte for byte, as one run makes that nothing interrupts."""
    home = Home(tmp_path, module=QUICK)
    child = subprocess.Popen(
        [sys.executable, "-m", home.module, "build", *SMALL],
        cwd=ROOT,
        env=home.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (home.path / folder).exists() and child.poll() is None:
        time.sleep(0.02)
    assert child.poll() is None
    os.killpg(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=300)
    assert (child.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "hopwright: interrupted; the same command continues where it stopped"
    assert "Traceback" not in err
    deadline = time.monotonic() + 180
    while has_members(child.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not has_members(child.pid)
    assert home.json("build", *SMALL, "--workers", "1")["failed_checks"] == 0
    assert home.files() == built[0].files()


def has_members(group: int) -> bool:
    """Whether a process of this group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
