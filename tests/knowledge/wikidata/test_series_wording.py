"""The sentences that tell of a member of a series before the question about the one next to it."""

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


@pytest.mark.parametrize("series", SERIES, ids=lambda one: one.name)
def test_what_stands_beside_a_told_member_points_back_to_it_once(series: Series) -> None:
    for told in (series.place.next_told, series.place.previous_told):
        assert told.count("{s}") == 1, told


def test_an_office_has_successors_and_an_event_keeps_its_name() -> None:
    places = {one.name: one.place for one in SERIES}
    assert places["popes"].next_told == "{s}'s immediate successor"
    assert places["summer_olympics"].previous_told == "the edition right before {s}"
    assert "Venice Biennale of Architecture" in places["venice_architecture_biennales"].next_told
