"""The sentences that tell of a member of a series before the question about what it shares with others."""

from __future__ import annotations

import re

import pytest

from hopwright.knowledge.wikidata.series import Series, load_series

SERIES = load_series()


@pytest.mark.parametrize("series", SERIES, ids=lambda one: one.name)
def test_every_column_tells_of_one_member_and_of_what_tells_it_apart(series: Series) -> None:
    for column in series.columns.values():
        told = column.reverse_told
        assert told.count("{o}") == 1, told
        assert len(re.findall(r"\b[Oo]ne\b", told)) == 1, told
        assert not told.endswith((".", "?")), told
