"""A toy run that nothing happened to, beside which others are laid."""

from __future__ import annotations

import pytest

from tests.runs.toy import read_bytes, run_toy


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a run that was neither killed nor moved: path → bytes."""
    home = tmp_path_factory.mktemp("undisturbed")
    run_toy(home)
    return read_bytes(home)
