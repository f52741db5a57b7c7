"""What a model objected to is gathered by kind of plan, shown, and avoided by the next build that is told so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from annotation.export import render_objections
from hopwright.errors import InputError
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Item, Rejected
from hopwright.records.arrow import REJECTED_SCHEMA, items_to_table
from hopwright.settings import SynthesizeParameters
from hopwright.stages.objections import (
    FILE,
    Objections,
    frame_item,
    gather_objections,
    read_objections,
    write_objections,
)
from hopwright.stages.selection import survey_drafts
from tests.drafts import draft_items


@dataclass(frozen=True)
class OneRound:
    """A finished round of wording: its parts, and the rejected rows beside them."""

    folder: Path

    def parts(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.parquet"))


def write_round(folder: Path, kept: Sequence[Item], refused: Sequence[Rejected]) -> OneRound:
    (folder / "rejected").mkdir(parents=True)
    pq.write_table(items_to_table(kept), folder / "part-00000.parquet")
    rows = REJECTED_SCHEMA.empty_table().from_pylist([one.model_dump() for one in refused], REJECTED_SCHEMA)
    pq.write_table(rows, folder / "rejected" / "part-00000.parquet")
    return OneRound(folder)


def refuse(item: Item, check: str, reason: str = "Nobody would want to know.") -> Rejected:
    return Rejected(key=item.id, check=check, reason=reason, row=item.model_dump_json())


@pytest.fixture(scope="module")
def drafts(sample: GraphStore) -> tuple[Item, ...]:
    return draft_items(sample)


@pytest.fixture(scope="module")
def alike(drafts: tuple[Item, ...]) -> list[Item]:
    """Three drafts of one kind of plan."""
    by_frame: dict[str, list[Item]] = {}
    for item in drafts:
        by_frame.setdefault(frame_item(item), []).append(item)
    return next(items[:3] for items in by_frame.values() if len(items) >= 3)


@pytest.fixture
def objections(drafts: tuple[Item, ...], alike: list[Item], tmp_path: Path) -> Objections:
    """Two of three alike are found unnatural, another plan is ambiguous, and one wording never fitted."""
    strange = [item for item in drafts if frame_item(item) != frame_item(alike[0])][:3]
    refused = [
        *(refuse(item, "objection_unnatural") for item in alike[:2]),
        refuse(strange[0], "objection_ambiguous", "Two films have that title."),
        refuse(strange[1], "structure", "answer 3 of 3"),
    ]
    return gather_objections([write_round(tmp_path / "worded", [alike[2], strange[2]], refused)])  # type: ignore[list-item]


def test_objections_are_counted_by_kind_of_plan(objections: Objections, alike: list[Item]) -> None:
    first = objections.frames[0]
    assert (first.frame, first.sent, first.kinds) == (frame_item(alike[0]), 3, {"unnatural": 2})
    assert first.is_unnatural()
    assert {one.kind for one in objections.plans} == {"unnatural", "ambiguous"}
    assert len(objections.frames) == 2
    assert not objections.frames[1].is_unnatural()


def test_the_next_build_drops_what_was_objected_to_and_nothing_else(
    objections: Objections, drafts: tuple[Item, ...], tmp_path: Path
) -> None:
    part = tmp_path / "part-00000.parquet"
    pq.write_table(items_to_table(drafts), part)
    write_objections(objections, tmp_path)
    plain = survey_drafts([part], SynthesizeParameters()).dropped[0]
    told = survey_drafts([part], SynthesizeParameters(objections=str(tmp_path / FILE))).dropped[0]
    objected = {row for row, (check, _) in told.items() if check == "objected"}
    plans, frames = {one.id for one in objections.plans}, {one.frame for one in objections.frames if one.is_unnatural()}
    assert objected == {
        row for row, item in enumerate(drafts) if item.id in plans or frame_item(item) in frames
    }
    assert len(objected) >= 4
    assert not any(check == "objected" for check, _ in plain.values())


def test_reviewers_see_what_was_set_aside(objections: Objections) -> None:
    page = render_objections(objections)
    for plan in objections.plans:
        assert plan.reason in page
        assert plan.id in page


def test_a_run_without_objections_has_no_table_and_a_foreign_file_is_refused(tmp_path: Path) -> None:
    write_objections(Objections(), tmp_path)
    assert not (tmp_path / FILE).exists()
    (tmp_path / "other.json").write_text('{"plans": 3}')
    with pytest.raises(InputError, match="not a table of objections"):
        read_objections(tmp_path / "other.json")
    with pytest.raises(InputError, match="cannot be read"):
        read_objections(tmp_path / "none.json")
