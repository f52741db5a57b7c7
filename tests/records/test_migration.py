"""Files of the version of the records before are read as if they had been written today; later ones are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from hopwright.errors import InputError, RunError
from hopwright.records import (
    RECORDS_VERSION,
    AnchorHop,
    AnchorRef,
    Article,
    Item,
    Passage,
    Provenance,
    Review,
    Score,
    Source,
    arrow,
)
from hopwright.records.migration import parse_item
from hopwright.release.changes import compare_releases
from hopwright.release.format import from_release, to_release
from hopwright.runs import RunFolder
from tests.builders import all_items, chain_item, write_jsonl
from tests.records import version_1
from tests.records.test_claims import carry
from tests.sample_claims import APOLLO


def old_items() -> list[Item]:
    """Items that hold all that version 1 knew."""
    rich = carry(chain_item(), APOLLO)
    first = rich.hops[0].evidence.replace(
        passages=[Passage(title="Night Harbour", text="A film.")], wikipedia_url="https://example.org/Q1"
    )
    anchor = AnchorRef(question_id="2hop__1_2", answer="x", entity="Q1", hops=(AnchorHop(index=1, single_hop_id="7"),))
    provenance = rich.provenance.model_copy(
        update={"anchor": anchor, "sources": (Source(name="Wikidata", licence="CC0-1.0"),)}
    )
    hops = (rich.hops[0].model_copy(update={"evidence": first}), *rich.hops[1:])
    fields = {"id": "hw-rich", "hops": hops, "provenance": provenance, "twin": "hw-t"}
    return [*all_items(), rich.model_copy(update=fields)]


@pytest.fixture
def old_part(tmp_path: Path) -> Path:
    rows = [version_1.write_old_item(item) for item in old_items()]
    path = tmp_path / "part-00000.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=version_1.ITEM_SCHEMA), path)
    return path


def test_the_parts_of_an_old_run_are_read_whole_and_by_row_and_column(old_part: Path) -> None:
    items = old_items()
    assert any(isinstance(entry, Article) for entry in items[-1].hops[0].evidence.entries)
    assert arrow.read_items(old_part) == items
    assert arrow.read_items(old_part, {"hw-rich"}) == items[-1:]
    assert arrow.read_items(old_part, {"hw-t"}, "twin") == items[-1:]
    assert arrow.read_columns(old_part, "question", "id") == [(item.question, item.id) for item in items]
    table = arrow.read_parquet(old_part, arrow.ITEM_SCHEMA)
    assert arrow.list_claimed(table) == [len(items) - 1]
    assert table.equals(arrow.items_to_table(items))


def test_parts_from_before_a_column_was_added_are_read_as_if_it_were_empty(tmp_path: Path) -> None:
    """Questions had no marks at first."""
    items = [item.model_copy(update={"marked": "{1: a}?"}) for item in all_items()]
    path = tmp_path / "part-00000.parquet"
    path.write_bytes(arrow.encode_parquet(arrow.items_to_table(items).drop_columns(["marked"])))
    bare = [item.model_copy(update={"marked": ""}) for item in items]
    assert arrow.read_items(path) == bare
    assert arrow.read_columns(path, "marked", "id") == [("", item.id) for item in items]
    assert arrow.read_columns(path, "id") == [(item.id,) for item in items]
    path.write_bytes(arrow.encode_parquet(arrow.items_to_table(items).drop_columns(["marked", "hops"])))
    with pytest.raises(InputError, match="it lacks hops"):
        arrow.read_items(path)


def test_an_empty_part_of_an_old_run_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "part-00000.parquet"
    pq.write_table(version_1.ITEM_SCHEMA.empty_table(), path)
    assert arrow.read_items(path) == []


def test_old_reviews_are_read(tmp_path: Path) -> None:
    review = Review(
        item_id="hw-1", kind="single_hop", hop=2, item_hash="h", annotator="a", project=1, task=2, annotation=3,
        created="2026-01-01T00:00:00Z", updated="2026-01-01T00:00:00Z", verdict="Retain",
        scores=(Score(criterion="clarity", value=4),),
    )  # fmt: skip
    path = tmp_path / "reviews.parquet"
    pq.write_table(pa.Table.from_pylist([review.model_dump(mode="json")], schema=version_1.REVIEW_SCHEMA), path)
    assert arrow.read_reviews(path) == [review]


@pytest.mark.parametrize("item", old_items(), ids=lambda item: item.id)
def test_items_kept_by_a_rejection_and_rows_of_a_release_are_read(item: Item) -> None:
    assert parse_item(item.model_dump_json()) == item
    assert parse_item(json.dumps(version_1.write_old_item(item))) == item
    assert from_release(version_1.to_old_release(item)) == item


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"hops": 1}', '{"hops": [1]}', '{"hops": [{"evidence": 1}]}', "nonsense"]
)
def test_what_is_no_item_of_any_version_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        parse_item(text)


def test_a_release_in_the_old_format_differs_from_todays_in_nothing(tmp_path: Path) -> None:
    before, now = tmp_path / "before", tmp_path / "now"
    before.mkdir()
    now.mkdir()
    items = [item.model_copy(update={"provenance": Provenance(anchor=item.anchor)}) for item in old_items()]
    rows = [json.dumps(version_1.to_old_release(item)) + "\n" for item in items]
    (before / "data.jsonl").write_text("".join(rows), encoding="utf-8")
    write_jsonl(items, now / "data.jsonl")
    assert [json.loads(row) for row in rows] != [to_release(item) for item in items]
    changes = compare_releases(before, now, "sample", "1.0.0")
    assert (changes.bump, changes.unchanged) == ("none", len(items))


def test_files_of_a_later_version_are_refused_in_one_line(tmp_path: Path) -> None:
    later = RECORDS_VERSION + 1
    path = tmp_path / "part-00000.parquet"
    path.write_bytes(arrow.encode_parquet(arrow.items_to_table([]), {arrow.VERSION_KEY.decode(): str(later)}))
    run = RunFolder(tmp_path, "r")
    run.path.mkdir(parents=True)
    run.manifest_path.write_text(json.dumps({"run": "r", "versions": {"records": str(later)}}), encoding="utf-8")
    for read, error in ((lambda: arrow.read_items(path), InputError), (run.read_manifest, RunError)):
        with pytest.raises(
            error, match=f"later version of Hopwright .records {later}, here {RECORDS_VERSION}"
        ) as caught:
            read()
        assert "\n" not in str(caught.value)


def test_a_run_and_its_parts_state_their_version(tmp_path: Path) -> None:
    manifest = RunFolder(tmp_path, "r").begin({})
    assert manifest.versions["records"] == str(RECORDS_VERSION)
    path = tmp_path / "part.parquet"
    path.write_bytes(arrow.encode_parquet(arrow.items_to_table([]), {"k": "v"}))
    stated = pq.read_metadata(path).metadata
    assert (stated[arrow.VERSION_KEY], stated[b"k"]) == (str(RECORDS_VERSION).encode(), b"v")
