"""Tasks for reviewers: they fit the interface, show every paragraph, and mark the answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotation.forms import check_task, load_novel_interface, parse_interface
from annotation.novels import build_novel_task, write_novel_tasks
from hopwright.errors import InputError
from hopwright.novels.dataset import BookTexts, NovelSet


def test_tasks_show_the_paragraphs_and_mark_the_answer(
    tmp_path: Path, small_set: NovelSet, texts: BookTexts
) -> None:
    items = [*small_set.items[::10], *small_set.twins[:2]]
    assert write_novel_tasks(small_set, texts, items, tmp_path) == len(items)
    tasks = json.loads((tmp_path / "tasks.json").read_text("utf-8"))
    interface = parse_interface(load_novel_interface())
    for task, item in zip(tasks, items, strict=True):
        check_task(task, interface)
        page = task["data"]["item_html"]
        for hop in item.hops:
            assert f'for="hw-hop-{hop.index}"' in page
            assert f'id="hw-hop-{hop.index}"' in page
        answers = sum(hop.entity is not None for hop in item.hops)
        assert page.count('class="hw-mark-answer"') >= answers


def test_a_changed_question_changes_the_hash(small_set: NovelSet, texts: BookTexts) -> None:
    item = small_set.items[0]
    changed = item.model_copy(update={"question": f"{item.question} <b>"})
    one, other = (build_novel_task(held, small_set, texts) for held in (item, changed))
    assert one["data"]["item_hash"] != other["data"]["item_hash"]
    assert "<b>" not in other["data"]["item_html"].split("hw-question")[1].split("</div>")[0]


def test_an_item_of_an_unknown_book_gets_one_line(small_set: NovelSet, texts: BookTexts) -> None:
    item = small_set.items[0]
    strange = item.model_copy(update={"window": item.window.model_copy(update={"book": "zz"})})
    with pytest.raises(InputError, match="nothing is said of the book zz"):
        build_novel_task(strange, small_set, texts)
