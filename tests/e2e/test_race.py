"""Commands that start at the same moment in a home where nothing was yet."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.e2e]
ROOT = Path(__file__).parents[2]
START = """
import sys
from pathlib import Path
from flows.local import prefect_server
with prefect_server(Path(sys.argv[1])) as wait:
    wait()
    print("it answers")
"""


def test_each_gets_its_server_though_both_make_the_database(tmp_path: Path) -> None:
    kept = {name: value for name, value in os.environ.items() if name != "PREFECT_API_URL"}
    starters = [
        subprocess.Popen(
            [sys.executable, "-c", START, str(tmp_path)],
            cwd=ROOT, env=kept, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    ends = [starter.communicate() for starter in starters]
    assert [out.strip() for out, _ in ends] == ["it answers", "it answers"], ends
