"""MuSiQue's records in the layouts in which they circulate."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from hopwright.errors import InputError
from hopwright.knowledge.wikidata.anchors import AnchorQuestion, link_anchors, neighbourhood, read_anchor_questions
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.records import Anchor, Rejected
from tests.knowledge.wikidata.builders import SHARED


def record(index: int = 1, hops: int = 2, paragraphs: int = 0, **changes: Any) -> dict[str, Any]:
    """One MuSiQue record about the tiny world."""
    entry: dict[str, Any] = {
        "id": f"{hops}hop__{index}_{index + 1}",
        "question": "Of which country is the director of Night Harbour a citizen?",
        "question_decomposition": [
            {
                "id": 1,
                "question": "Night Harbour >> director",
                "answer": "Ada Lindqvist",
                "paragraph_support_idx": 3,
            },
            {
                "id": 2,
                "question": "#1 >> country of citizenship",
                "answer": "Vestmark",
                "paragraph_support_idx": 7,
            },
            {"id": 3, "question": "capital of #2", "answer": "Ostrava Bay", "paragraph_support_idx": 8},
        ][:hops],
        "answer": "Vestmark",
        "answer_aliases": ["Kingdom of Vestmark"],
        "answerable": True,
    }
    if paragraphs:
        entry["paragraphs"] = [
            {"idx": n, "title": f"T{n}", "paragraph_text": f"text {n}", "is_supporting": n in (3, 7)}
            for n in range(20)
            if n != 5 or paragraphs == 20
        ]
    return entry | changes


def write(path: Path, records: list[Any], layout: str) -> Path:
    if layout == "lines":
        text = "".join(json.dumps(one) + "\n" for one in records)
    elif layout == "array":
        text = json.dumps(records)
    elif layout == "pretty":
        text = json.dumps({"data": [records]}, indent=2)
    else:
        text = json.dumps({"version": 1, "data": [records]})
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


@pytest.mark.parametrize("layout", ["lines", "array", "nested", "pretty"])
@pytest.mark.parametrize("name", ["anchors.jsonl", "anchors.json.gz"])
@pytest.mark.parametrize("paragraphs", [0, 19, 20])
def test_every_layout_reads_the_same(tmp_path: Path, layout: str, name: str, paragraphs: int) -> None:
    records = [record(1, paragraphs=paragraphs), record(2, hops=3), record(4, paragraphs=paragraphs)]
    questions = list(read_anchor_questions(write(tmp_path / name, records, layout)))
    assert all(isinstance(one, AnchorQuestion) for one in questions)
    assert [one.id for one in questions if isinstance(one, AnchorQuestion)] == ["2hop__1_2", "2hop__4_5"]
    first = questions[0]
    assert isinstance(first, AnchorQuestion)
    assert first.last_sub_question == "Ada Lindqvist >> country of citizenship"
    assert first.sub_answers == ("Ada Lindqvist", "Vestmark")
    assert first.paragraphs == (("T3: text 3", "T7: text 7") if paragraphs else ())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answer": ""}, "answer is missing"),
        ({"question": None}, "question is missing"),
        ({"question_decomposition": "none"}, "no list"),
        ({"question_decomposition": []}, "is empty"),
        ({"question_decomposition": [{"question": "a"}, {"question": "b", "answer": "c"}]}, "sub-answer 1"),
        ({"answer_aliases": "Vestmark"}, "answer_aliases"),
        ({"answerable": False}, "not answerable"),
        ({"id": None}, "no id"),
    ],
)
@pytest.mark.parametrize("layout", ["lines", "array"])
def test_a_malformed_record_is_rejected_by_its_id(
    tmp_path: Path, changes: dict[str, Any], reason: str, layout: str
) -> None:
    path = write(tmp_path / "a.json", [record(1), record(7, **changes), record(4)], layout)
    good, bad, also_good = read_anchor_questions(path)
    assert isinstance(good, AnchorQuestion) and isinstance(also_good, AnchorQuestion)
    assert isinstance(bad, Rejected) and bad.check == "anchor_format" and reason in bad.reason
    assert bad.key == ("a.json:2" if "id" in changes else "2hop__7_8")
    assert bad.row


def test_broken_lines_are_rejected_by_their_place(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [b'{"id": "x', json.dumps(record(1)).encode(), b"", b'{"id": "\xff"}', b"[1, 2]", b"7"]
    path.write_bytes(b"\n".join(lines) + b"\n")
    found = list(read_anchor_questions(path))
    assert [one.key for one in found if isinstance(one, Rejected)] == [
        "a.jsonl:1", "a.jsonl:4", "a.jsonl:5", "a.jsonl:6",
    ]  # fmt: skip
    assert sum(isinstance(one, AnchorQuestion) for one in found) == 1


def test_the_second_record_with_an_id_is_rejected(tmp_path: Path) -> None:
    _, second = read_anchor_questions(write(tmp_path / "a.jsonl", [record(1), record(1)], "lines"))
    assert isinstance(second, Rejected) and "before" in second.reason


def test_files_that_cannot_be_read_are_input_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        list(read_anchor_questions(tmp_path / "nowhere.jsonl"))
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(InputError, match="is empty"):
        list(read_anchor_questions(tmp_path / "empty.jsonl"))
    (tmp_path / "text.json").write_text("[{]")
    with pytest.raises(InputError, match="not JSON"):
        list(read_anchor_questions(tmp_path / "text.json"))
    path = write(tmp_path / "a.jsonl.gz", [record(n) for n in range(200)], "lines")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="truncated or damaged"):
        list(read_anchor_questions(path))


def test_anchors_carry_triplets_and_literals(tmp_path: Path, world: GraphStore) -> None:
    path = write(tmp_path / "a.jsonl", [record(1), record(4, answer="Atlantis", answer_aliases=[])], "lines")
    questions = [one for one in read_anchor_questions(path) if isinstance(one, AnchorQuestion)]
    (anchor,), (rejected,) = link_anchors(questions, world)
    assert isinstance(anchor, Anchor) and (anchor.entity, anchor.entity_label) == ("Q903", "Vestmark")
    assert [(t.subject, t.property, t.object) for t in anchor.triplets] == [
        ("Q903", "P31", "Q6256"), ("Q903", "P36", "Q904"), ("Q902", "P27", "Q903"),
    ]  # fmt: skip
    assert anchor.triplets[2].subject_label == "Ada Lindqvist"
    assert anchor.triplets[2].property_label == "country of citizenship"
    assert {literal.property for literal in anchor.literals} == {"P571", "P2046"}
    assert rejected.key == "2hop__4_5" and rejected.check == "anchor_link" and "Atlantis" in rejected.reason


def test_a_hub_is_capped(sample: GraphStore) -> None:
    for hub, most in (("Q30", 200), ("Q30", 400), ("Q17", 200)):
        triplets = neighbourhood(sample, hub, most)
        assert len(triplets) == most == len(set(triplets))
        assert triplets == neighbourhood(sample, hub, most)
        own = [t for t in triplets if t.subject == hub]
        assert len(own) == min(len(sample.out_edges(hub)), most) and triplets[: len(own)] == tuple(own)
        assert {t.property for t in own} == {property for property, _ in sample.out_edges(hub)}


@pytest.mark.skipif(not (SHARED / "musique").is_dir(), reason="MuSiQue is not shipped")
def test_musique_reads_and_links(sample: GraphStore) -> None:
    found = list(read_anchor_questions(SHARED / "musique/musique_dev_half.json"))
    questions = [one for one in found if isinstance(one, AnchorQuestion)]
    assert len(questions) == len(found) == 626
    anchors, rejected = link_anchors(questions, sample)
    assert len(anchors) + len(rejected) == 626
    assert len(anchors) >= 60
    assert {rejection.check for rejection in rejected} == {"anchor_link"}
    linked = {anchor.answer: anchor.entity_label for anchor in anchors}
    assert linked["River Thames"] == "River Thames" and "2005" not in linked and "Hancock County" not in linked
