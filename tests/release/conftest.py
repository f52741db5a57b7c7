"""What several tests of releases share."""

from __future__ import annotations

import pytest

from hopwright.release.dataset import _ReleaseWriter


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes most of a release's time, and says nothing of what else is in it."""
    monkeypatch.setattr(_ReleaseWriter, "_draw", lambda *_: ())
