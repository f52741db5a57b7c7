"""Parquet of others: any good file is read as it is, and none takes more memory than its size lets expect."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.foreign import LONGEST_LINE
from hopwright.records.parquet_rows import ParquetError, read_parquet_rows

_TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
_ROWS = st.fixed_dictionaries(
    {
        "id": st.integers(-5, 5), "text": _TEXTS, "part": st.none() | st.fixed_dictionaries({"title": _TEXTS}),
        "lists": st.none() | st.lists(st.none() | st.lists(_TEXTS, max_size=3), max_size=3),
    }
)  # fmt: skip
_SCHEMA = pa.schema(
    [
        ("id", pa.int64()), ("text", pa.large_string()), ("part", pa.struct([("title", pa.string())])),
        ("lists", pa.list_(pa.list_(pa.string()))),
    ]
)  # fmt: skip


@given(
    rows=st.lists(_ROWS, min_size=1, max_size=20),
    group=st.integers(1, 20),
    dictionary=st.booleans(),
    packing=st.sampled_from(["none", "snappy", "zstd"]),
)
def test_a_good_file_is_read_as_it_is(
    rows: list[Any], group: int, dictionary: bool, packing: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "good.parquet"
    table = pa.Table.from_pylist(rows, schema=_SCHEMA)
    pq.write_table(table, path, row_group_size=group, use_dictionary=dictionary, compression=packing)
    assert list(read_parquet_rows(path)) == rows
    assert list(read_parquet_rows(path, ["text"])) == [{"text": row["text"]} for row in rows]


def repeat(text: str, rows: int) -> pa.DictionaryArray:
    """One text in so many rows, of which a file holds it once."""
    return pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))


def write_bombs(folder: Path) -> dict[str, Path]:
    """Files of less than 150 kB, by what is told of them."""
    empty = 20_000_000
    lists = pa.ListArray.from_arrays(pa.array([0, empty], pa.int32()), pa.nulls(empty, pa.string()))
    tables: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "which cannot all differ": ({"text": repeat("a", 3_000_000)}, {}),
        "unpack to": ({"text": pa.array(["word " * 20_000_000])}, {}),
        "entries in": ({"text": lists}, {}),
        "is written as DELTA_BYTE_ARRAY": (
            {"id": [random.Random(f"id:{row}").random() for row in range(500)], "text": ["word " * 2_000] * 500},
            {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}},
        ),
    }
    found = {}
    for number, (told, (columns, options)) in enumerate(tables.items()):
        found[told] = folder / f"{number}.parquet"
        pq.write_table(pa.table(columns), found[told], compression="zstd", store_schema=False, **options)
    return found


def test_a_file_that_unpacks_to_far_more_is_refused_in_one_line(tmp_path: Path) -> None:
    for told, path in write_bombs(tmp_path).items():
        assert path.stat().st_size < 150_000
        before = pa.total_allocated_bytes()
        with pytest.raises(ParquetError, match=told) as caught:
            next(read_parquet_rows(path))
        assert "\n" not in str(caught.value)
        assert pa.total_allocated_bytes() - before < LONGEST_LINE


def test_a_long_text_in_every_row_is_held_once(tmp_path: Path) -> None:
    path, rows, text = tmp_path / "repeated.parquet", 3_000, "word " * 200_000
    ids = [random.Random(f"rows:{row}").randbytes(8).hex() for row in range(rows)]
    table = pa.table({"id": ids, "text": repeat(text, rows)})
    pq.write_table(table, path, compression="zstd", store_schema=False)
    most = 0
    for row in read_parquet_rows(path):
        assert row is not None and row["text"] == text
        most = max(most, pa.total_allocated_bytes())
    assert most < 100 * len(text), "all rows together would take 3,000 times its length"


def test_a_row_that_is_too_long_is_none_and_the_others_are_read(tmp_path: Path) -> None:
    random_text = random.Random("text").randbytes(LONGEST_LINE // 2 + 1).hex()
    rows = [{"text": "a"}, {"text": random_text}, {"text": "b"}] + [{"text": str(row)} for row in range(5)]
    pq.write_table(pa.Table.from_pylist(rows * 2), tmp_path / "long.parquet")
    found = list(read_parquet_rows(tmp_path / "long.parquet"))
    assert found == [row if len(row["text"]) < LONGEST_LINE else None for row in rows * 2]


def test_what_is_no_parquet_is_one_line(tmp_path: Path) -> None:
    good = tmp_path / "good.parquet"
    pq.write_table(pa.table({"text": ["a"] * 9}), good)
    for data in (b"", b"PAR1", b"PAR1" * 3, good.read_bytes()[:-20], good.read_bytes()[20:], b"x" * 5_000):
        path = tmp_path / "bad.parquet"
        path.write_bytes(data)
        with pytest.raises(ParquetError) as caught:
            list(read_parquet_rows(path))
        assert "\n" not in str(caught.value)
    with pytest.raises(FileNotFoundError):
        list(read_parquet_rows(tmp_path / "none.parquet"))
