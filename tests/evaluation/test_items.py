"""Reading datasets, putting other answers into sub-questions, drawing passages that do not help."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hopwright.errors import InputError
from hopwright.evaluation.items import (
    EvalItem,
    draw_irrelevant_passages,
    read_items,
    substitute_given_answers,
    to_eval_item,
)
from hopwright.records import Passage
from tests.builders import chain_item
from tests.evaluation.datasets import make_row, write_rows


@pytest.fixture
def item(tmp_path: Path) -> EvalItem:
    return read_items(write_rows(tmp_path / "data.jsonl", 3)).items[0]


def test_bare_rows_take_their_dependencies_from_the_motif(tmp_path: Path) -> None:
    items = read_items(write_rows(tmp_path / "data.jsonl", 3)).items
    assert [one.topology for one in items] == ["chain", "converging", "bridge"]
    assert [hop.depends_on for hop in items[2].hops] == [(), (1,), (), (2, 3)]
    assert items[0].hops[0].domain == ""


def test_a_set_of_questions_over_documents_is_read_by_its_folder(tmp_path: Path) -> None:
    lines = [chain_item().model_dump_json(), '{"hops": [], "id": "broken"}']
    (tmp_path / "items.jsonl").write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"no data\.jsonl"):
        read_items(tmp_path)
    (tmp_path / "qrels.trec").write_text("")
    for read in (read_items(tmp_path), read_items(tmp_path / "items.jsonl")):
        assert [(one.id, one.question) for one in read.items] == [(chain_item().id, chain_item().question)]
        assert [one.key for one in read.rejected] == ["items.jsonl:2"]


def test_a_wrong_answer_takes_the_place_of_the_gold_one(item: EvalItem) -> None:
    assert substitute_given_answers(item.hop(2), item, {1: "Rome"}) == ("Which thing is step 2 of Rome?", ())
    assert substitute_given_answers(item.hop(1), item, {})[0] == item.hop(1).question


def test_gold_answers_put_back_give_the_question_itself(item: EvalItem) -> None:
    for hop in item.hops:
        assert (
            substitute_given_answers(hop, item, {index: item.hop(index).answer for index in hop.depends_on})[0]
            == hop.question
        )


def test_parts_of_other_numbers_and_words_stay() -> None:
    item = to_eval_item(chain_item())
    hop = item.hops[0]
    first = type(hop)(1, "?", "188", (), "number", {}, "", (), "", "")
    second = type(hop)(2, "Which is 188 of 1,188 or 188.5 or B188?", "x", (), "string", {}, "", (1,), "", "")
    whole = type(item)(
        "i", "chain", "factual", "i", "q", "x", (), "string", {}, "A", (first, second), ()
    )  # fmt: skip
    assert substitute_given_answers(second, whole, {1: "7"}) == ("Which is 7 of 1,188 or 188.5 or B188?", ())


def test_an_answer_that_the_question_does_not_name_is_reported() -> None:
    hop = to_eval_item(chain_item()).hops[0]
    first = type(hop)(1, "?", "Paris", (), "string", {}, "", (), "", "")
    second = type(hop)(2, "In which country does that city lie?", "x", (), "string", {}, "", (1,), "", "")
    item = EvalItem("i", "chain", "factual", "i", "q", "x", (), "string", {}, "A", (first, second), ())
    assert substitute_given_answers(second, item, {1: "Rome"}) == (second.question, (1,))


def test_a_limit_takes_items_from_all_over_the_file(tmp_path: Path) -> None:
    file = read_items(write_rows(tmp_path / "data.jsonl", 100), limit=10)
    assert [item.id for item in file.items] == [f"item-{number}" for number in range(0, 100, 10)]


def test_bad_rows_are_told_and_left_out(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps(make_row(1, "chain")) + '\n{"id": "x"}\nnot json\n')
    file = read_items(path)
    assert len(file.items) == 1
    assert len(file.rejected) == 2


@pytest.mark.parametrize("content", ["", "{}\n", "[1]\n"])
def test_a_file_without_items_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(content)
    with pytest.raises(InputError, match="no item in the release format"):
        read_items(path)


def test_missing_files_and_repeated_ids_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_items(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match=r"no data\.jsonl"):
        read_items(tmp_path)
    path = tmp_path / "data.jsonl"
    path.write_text((json.dumps(make_row(1, "chain")) + "\n") * 2)
    with pytest.raises(InputError, match="'item-1' is there 2 times"):
        read_items(path)


def test_irrelevant_passages_name_none_of_the_answers() -> None:
    def build(number: int) -> EvalItem:
        hop = to_eval_item(chain_item()).hops[0]
        own = type(hop)(1, "?", f"Thing{number}", (), "string", {}, "", (), "", "")
        text = f"This is about Thing{number} and Thing{number + 1}."
        return EvalItem(
            f"i{number}", "chain", "factual", f"i{number}", "q", "x", (), "string", {}, "A", (own,) * 3,
            (Passage(title="t", text=text),),
        )  # fmt: skip

    items = [build(number) for number in range(100, 140)]
    for item in items:
        found = draw_irrelevant_passages(item, items, seed=1)
        assert len(found) == 3
        assert not any(item.hops[0].answer in passage.text for passage in found)
        assert found == draw_irrelevant_passages(item, items, seed=1)
