"""Six novels asked by the command, and every claim of more than 300 items confirmed by a search that knows no line of
the product; each claim is planted wrong, too, so that the search is known to see it."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.novels.brute_force import PAIRED, BookFiles, Chain, DataSet

ROOT = Path(__file__).resolve().parents[2]
NOVELS = ROOT.parent / "shared" / "data" / "novels"
HOPS = (1, 2, 3, 4)
KINDS = {
    "speaker", "reply", "mentioned", "site", "answered", "teller", "voice", "first", "last", "where", "companion",
    "place", "chapters", "chapter",
}  # fmt: skip
NEEDS_NOVELS = pytest.mark.skipif(not NOVELS.is_dir(), reason="the novels are not beside the checkout")


def ask(folder: Path, items: int, *more: str) -> DataSet:
    """Questions about all six novels, so many of each number of hops, written by the command and read as files."""
    files = sorted(str(path) for path in NOVELS.glob("*.txt"))
    options = ["--items", f"{items}", "--no-twins", *more]
    for words in (["add", *files], ["questions", str(folder / "set"), *options]):
        done = subprocess.run(
            [sys.executable, "-m", "flows.cli", "novels", *words], capture_output=True, text=True, check=False,
            cwd=ROOT, env={**os.environ, "HOPWRIGHT_HOME": str(folder / "home")},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    return DataSet(folder / "set", NOVELS)


def confirm(found: DataSet, items: int) -> None:
    """Every claim of every item holds, and so many were looked at of each book and number of hops."""
    refuted = {item["id"]: faults for item in found.items if (faults := found.refute(item))}
    assert refuted == {}
    looked_at = Counter((item["window"]["book"], len(item["hops"])) for item in found.items)
    assert len(looked_at) == 6 * len(HOPS)
    assert min(looked_at.values()) >= items
    assert {hop["step"] for item in found.items for hop in item["hops"]} == KINDS


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> DataSet:
    return ask(tmp_path_factory.mktemp("brute"), 13, "--length", "64k", "--seed", "3")


@NEEDS_NOVELS
def test_every_claim_of_312_items_is_confirmed(asked: DataSet) -> None:
    confirm(asked, 13)


@NEEDS_NOVELS
@pytest.mark.nightly
def test_every_claim_of_1200_items_is_confirmed(tmp_path: Path) -> None:
    found = ask(tmp_path, 50, "--length", "64k", "--length", "128k", "--seed", "8")
    confirm(found, 30)
    assert len(found.items) > 1200


def say_another(item: Any, asked: DataSet) -> None:
    """Another person is the answer, under the right name of theirs."""
    book = asked.books[item["window"]["book"]]
    taken = {who for hop in item["hops"] for who in (*hop["clues"], hop["entity"])}
    other = min(book.persons - taken)
    item["hops"][-1].update(entity=other, answer=book.names[other])
    item["answer"] = book.names[other]


def move_span(item: Any, asked: DataSet) -> None:
    """The answer is read in the paragraph after its own."""
    item["hops"][-1]["derivation"].update(
        start=item["hops"][-1]["paragraphs"][0]["end"] + 4, end=item["hops"][-1]["paragraphs"][0]["end"] + 9
    )


def move_paragraph(item: Any, asked: DataSet) -> None:
    """The first hop rests on the first paragraph of the window, whatever it names."""
    book, window = asked.books[item["window"]["book"]], item["window"]
    first = book.cut(window["start"], window["end"])[0]
    item["hops"][0]["paragraphs"] = [{"start": first.start, "end": first.start + len(first.text)}]


def drop_clue(item: Any, asked: DataSet) -> None:
    """The first hop asks by one name less."""
    item["hops"][0]["clues"] = item["hops"][0]["clues"][1:]


def swap_name(item: Any, asked: DataSet) -> None:
    """The question names somebody else."""
    names = asked.books[item["window"]["book"]].names
    clue = item["hops"][0]["clues"][0]
    other = next(name for who, name in sorted(names.items()) if name not in item["question"] and who != clue)
    item["question"] = item["question"].replace(names[clue], other)


def lengthen(item: Any, asked: DataSet) -> None:
    """The hops lie one token further apart."""
    item["distances"][0] += 1


def deepen(item: Any, asked: DataSet) -> None:
    """The answer stands a hundredth of the window further down."""
    item["depth"] = round(item["depth"] - 0.01, 4)


def cut_short(item: Any, asked: DataSet) -> None:
    """The window ends earlier."""
    item["window"]["end"] -= 3


def break_chain(item: Any, asked: DataSet) -> None:
    """The second hop does not ask by the first one's answer."""
    item["hops"][1]["depends_on"] = []


PLANTED: dict[str, tuple[Callable[[Any, DataSet], None], set[str]]] = {
    "another answer": (say_another, {"chain", "span"}),
    "a span elsewhere": (move_span, {"span"}),
    "a paragraph elsewhere": (move_paragraph, {"selects", "needed"}),
    "a condition too wide": (drop_clue, {"selects", "words"}),
    "another name in the question": (swap_name, {"words"}),
    "another distance": (lengthen, {"measures"}),
    "another depth": (deepen, {"measures"}),
    "another window": (cut_short, {"window"}),
    "a chain that is none": (break_chain, {"words", "chain"}),
}


@NEEDS_NOVELS
@pytest.mark.parametrize("fault", sorted(PLANTED))
def test_a_planted_fault_is_found(asked: DataSet, fault: str) -> None:
    plant, claims = PLANTED[fault]
    chosen = [
        item for item in asked.items
        if len(item["hops"]) > 1 and item["hops"][0]["step"] in PAIRED and item["hops"][-1]["entity"] is not None
        and len(item["hops"][0]["clues"]) == 2
    ][:6]  # fmt: skip
    assert len(chosen) == 6
    for item in chosen:
        wrong = copy.deepcopy(item)
        plant(wrong, asked)
        assert claims <= {one.claim for one in asked.refute(wrong)}


@NEEDS_NOVELS
@pytest.mark.parametrize("field", ["chapter", "final"])
@pytest.mark.parametrize("step", ["teller", "mentioned", "answered", "where"])
def test_another_place_of_the_story_is_found(asked: DataSet, step: str, field: str) -> None:
    """A hop that looks at the chapter after its own, or at the last paragraph there for the first."""
    chosen = [item for item in asked.items if item["hops"][-1]["step"] == step and item["hops"][-1]["chapter"]][:3]
    assert chosen
    for item in chosen:
        wrong = copy.deepcopy(item)
        last = wrong["hops"][-1]
        last[field] = last["chapter"] + 1 if field == "chapter" else not last["final"]
        assert {"words", "selects"} <= {one.claim for one in asked.refute(wrong)}


def tell(*paragraphs: str) -> Chain:
    """A chain over a few paragraphs: who is named with Ann first, and who is named with that person and Dan."""
    text = "\n\n".join(paragraphs)
    names = ("Ann", "Bob", "Cid", "Dan", "Eve", "Fay")
    listed = {
        "entities": [{"id": who, "kind": "person", "name": one, "aliases": [one]} for who, one in enumerate(names)],
        "forms": {one: [who] for who, one in enumerate(names)},
        "things": [],
    }
    rows = [("first", "Ann", "Bob", 0), ("companion", "Dan", "Eve", 2)]
    hops = [
        {
            "index": number, "step": step, "clues": [names.index(clue)], "answer": answer,
            "entity": names.index(answer), "depends_on": [1] if number > 1 else [], "quoted": None, "chapter": 0,
            "final": False,
            "paragraphs": [{"start": text.index(paragraphs[place])}],
        }
        for number, (step, clue, answer, place) in enumerate(rows, start=1)
    ]  # fmt: skip
    return Chain(BookFiles(listed, text), {"hops": hops, "window": {"start": 0, "end": len(text)}})


def test_a_paragraph_that_is_not_needed_is_found() -> None:
    """Without the first paragraph the first hop leads to Cid, and from there to somebody else, or to the same Eve."""
    begin = ("Ann met Bob at the mill.", "Ann met Cid there, too.", "Bob and Dan sat with Eve.")
    sound, alike = tell(*begin, "Cid and Dan sat with Fay."), tell(*begin, "Cid and Dan sat with Eve again.")
    for chain in (sound, alike):
        assert chain.run(chain.everything) == {chain.answer}
    assert list(sound.list_unneeded()) == []
    assert [one.reason[:5] for one in alike.list_unneeded()] == ["hop 1"]
