"""Series, such as the FIFA World Cups: their tables, their wordings and their facts."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from hopwright.knowledge.facts import GraphFacts
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.knowledge.wikidata.series import Series, load_series
from hopwright.knowledge.wikidata.store import GraphStore

TABLE = default_table()
TABLES = Path(__file__).resolve().parents[2] / "scripts/sample/series"


def read_rows(series: Series) -> list[dict[str, str]]:
    with (TABLES / f"{series.name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("series", load_series(), ids=lambda one: one.name)
def test_a_table_has_the_columns_of_its_wording(series: Series) -> None:
    rows = read_rows(series)
    assert [*rows[0]] == ["name", *(column for column in series.cells if column != "name")]
    assert len({row["name"] for row in rows}) == len(rows)
    for column, (property, *_) in series.cells.items():
        if column != "name" and series.columns[property].reverse == "alone":
            assert all(row[column] for row in rows), column  # else somebody else may be meant as well


@pytest.mark.parametrize("series", load_series(), ids=lambda one: one.name)
def test_every_phrase_has_its_place(series: Series) -> None:
    for column in series.columns.values():
        assert all(one.count("{s}") == 1 for one in (*column.ask, *column.np)), column.label
        assert all(one.count("{o}") == 1 for one in (*column.reverse_ask, *column.reverse_np)), column.label
        # In longer questions it becomes `the one`.
        opening = rf"the (only )?{re.escape(series.place.series)}"
        assert all(re.match(opening, one) for one in column.reverse_np), column.label


def test_the_sample_has_every_series_without_a_gap(sample: GraphStore) -> None:
    facts = GraphFacts(sample, TABLE)
    for series in load_series():
        places = {facts.scalars(one, series.property) for one in sample.literal_subjects(series.property)}
        assert places == {(place,) for place in range(1, len(read_rows(series)) + 1)}, series.name
