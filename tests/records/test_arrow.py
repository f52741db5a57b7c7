from __future__ import annotations

import typing
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from hopwright.errors import InputError
from hopwright.records import Anchor, Compute, Document, Item, Lookup, Rejected, ReverseLookup, Review, Score, arrow
from hopwright.records.schema import derive_type
from tests.builders import all_items
from tests.records import strategies


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(strategies.items(), max_size=2))
def test_items_come_back_as_they_went(items: list[Item]) -> None:
    assert arrow.table_to_items(arrow.items_to_table(items)) == items


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(strategies.ANCHORS, max_size=3), st.lists(st.from_type(Rejected), max_size=3))
def test_anchors_and_rejected_rows_come_back_as_they_went(
    tmp_path_factory: pytest.TempPathFactory, anchors: list[Anchor], rejected: list[Rejected]
) -> None:
    path = tmp_path_factory.mktemp("anchors") / "part.parquet"
    path.write_bytes(arrow.encode_parquet(arrow.anchors_to_table(anchors)))
    assert arrow.read_anchors(path) == anchors
    assert arrow.table_to_rejected(arrow.rejected_to_table(rejected)) == rejected


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(strategies.DOCUMENTS, max_size=3))
def test_documents_come_back_as_they_went(tmp_path_factory: pytest.TempPathFactory, documents: list[Document]) -> None:
    path = tmp_path_factory.mktemp("documents") / "part.parquet"
    path.write_bytes(arrow.encode_parquet(arrow.documents_to_table(documents)))
    assert arrow.read_documents(path) == documents


_REVIEWS = st.builds(
    Review,
    hop=st.none() | st.integers(1, 8),
    seconds=st.none() | st.floats(0, 1e9),
    scores=st.lists(st.builds(Score, value=st.integers(1, 5)), max_size=3).map(tuple),
)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_REVIEWS, max_size=3))
def test_reviews_come_back_as_they_went(tmp_path_factory: pytest.TempPathFactory, reviews: list[Review]) -> None:
    path = tmp_path_factory.mktemp("reviews") / "reviews.parquet"
    path.write_bytes(arrow.encode_parquet(arrow.reviews_to_table(reviews)))
    assert arrow.read_reviews(path) == reviews


def test_text_that_looks_like_a_null_field_survives() -> None:
    nasty = ['","value":null', '{"op":null,"x', ',"label":null}', "\\", '\\"', "\x00\u2028"]
    items = [item.model_copy(update={"question": text}) for item in all_items() for text in nasty]
    assert arrow.table_to_items(arrow.items_to_table(items)) == items


def test_every_field_of_a_record_has_its_place_in_the_schema() -> None:
    for model, schema in (
        (Item, arrow.ITEM_SCHEMA),
        (Anchor, arrow.ANCHOR_SCHEMA),
        (Document, arrow.DOCUMENT_SCHEMA),
        (Rejected, arrow.REJECTED_SCHEMA),
        (Review, arrow.REVIEW_SCHEMA),
    ):
        assert _model_paths(model) == _schema_paths(pa.struct(list(schema)))


class _Number(BaseModel):
    kind: typing.Literal["number"] = "number"
    value: int


class _Text(BaseModel):
    kind: typing.Literal["text"] = "text"
    value: str


def test_a_union_whose_members_disagree_about_a_field_has_no_type() -> None:
    with pytest.raises(TypeError, match=r"_Text\.value has another type"):
        derive_type(_Number | _Text)
    with pytest.raises(TypeError, match="no Arrow type"):
        derive_type(set[int])
    assert derive_type(tuple[_Number, ...]) == pa.list_(pa.struct([("value", pa.int64())]))


def test_same_rows_give_same_bytes_however_they_were_cut() -> None:
    items = all_items()
    whole = arrow.items_to_table(items)
    pieces = pa.concat_tables([arrow.items_to_table([item]) for item in items])
    assert arrow.encode_parquet(whole, {"k": "v"}) == arrow.encode_parquet(pieces, {"k": "v"})


def test_an_empty_table_keeps_its_schema(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"
    path.write_bytes(arrow.encode_parquet(arrow.items_to_table([])))
    assert arrow.read_items(path) == []


def test_reading_what_is_no_items_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"
    whole = arrow.encode_parquet(arrow.items_to_table(all_items()))
    cases = {
        "no such file": None,
        "not a readable Parquet file": whole[: len(whole) // 2],
        "it lacks question": arrow.encode_parquet(arrow.rejected_to_table([])),
        "row 0: label": arrow.encode_parquet(_with_label("Z")),
    }
    for message, data in cases.items():
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(InputError, match=message) as caught:
            arrow.read_items(path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


def _with_label(label: str) -> pa.Table:
    table = arrow.items_to_table(all_items())
    index = table.schema.get_field_index("label")
    return table.set_column(index, "label", pa.array([label] * table.num_rows, pa.string()))


def _model_paths(model: type[BaseModel], prefix: str = "", *, tagged: bool = False) -> set[str]:
    paths: set[str] = set()
    for name, field in model.model_fields.items():
        values = typing.get_args(field.annotation)
        if tagged or typing.get_origin(field.annotation) is not typing.Literal or len(values) > 1:
            paths |= _annotation_paths(field.annotation, f"{prefix}{name}")
    return paths


def _annotation_paths(annotation: typing.Any, path: str) -> set[str]:
    if typing.get_origin(annotation) is dict:
        return {f"{path}.{label}" for label in "ABCD"}
    leaves = _models_in(annotation)
    if not leaves:
        return {path}
    return {one for leaf in leaves for one in _model_paths(leaf, f"{path}.", tagged=len(leaves) > 1)}


def _models_in(annotation: typing.Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in typing.get_args(annotation) for model in _models_in(part)]


def _schema_paths(kind: pa.DataType, path: str = "") -> set[str]:
    if pa.types.is_list(kind):
        return _schema_paths(kind.value_type, path)
    if pa.types.is_struct(kind):
        return {one for field in kind for one in _schema_paths(field.type, f"{path}.{field.name}".lstrip("."))}
    return {path}


def test_some_rows_and_some_columns_are_those_of_the_whole(tmp_path: Path) -> None:
    items = [
        item.model_copy(update={"id": f"hw-{place}", "twin": f"hw-{place % 3}" if place % 2 else None})
        for place, item in enumerate(all_items())
    ]
    path = tmp_path / "items.parquet"
    path.write_bytes(arrow.encode_parquet(arrow.items_to_table(items)))
    wanted = {"hw-0", "hw-1", "hw-99"}
    assert arrow.read_items(path, wanted) == [item for item in items if item.id in wanted]
    assert arrow.read_items(path, wanted, "twin") == [item for item in items if item.twin in wanted] != []
    assert arrow.read_items(path, ()) == []
    assert arrow.read_columns(path, "question", "id") == [(item.question, item.id) for item in items]


def test_a_file_of_another_kind_is_refused_whatever_is_read_of_it(tmp_path: Path) -> None:
    path = tmp_path / "rejected.parquet"
    path.write_bytes(arrow.encode_parquet(arrow.rejected_to_table([])))
    for read in (lambda: arrow.read_items(path, {"hw-1"}), lambda: arrow.read_columns(path, "id")):
        with pytest.raises(InputError, match="not a file of this kind"):
            read()


def test_the_three_derivations_share_one_struct() -> None:
    table = arrow.items_to_table(all_items())
    ops = {hop["derivation"]["op"] for row in table.column("hops").to_pylist() for hop in row}
    assert ops <= {model.model_fields["op"].default for model in (Lookup, ReverseLookup, Compute)}
    assert {"lookup", "compute"} <= ops
