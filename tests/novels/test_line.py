"""From books to a data set: every item proven twice, the same bytes, a loader that needs nothing, and an audit."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hopwright.errors import InputError
from hopwright.knowledge.books.book import hash_text
from hopwright.knowledge.books.reading import BookNotes
from hopwright.knowledge.books.tokens import count_tokens
from hopwright.novels.audit import audit_novels
from hopwright.novels.dataset import BookTexts, NovelSet, read_novel_set, write_novel_set
from hopwright.novels.records import NovelItem
from hopwright.novels.renaming import TWIN
from hopwright.novels.shelf import add_book, open_books
from hopwright.settings import NovelQuestionsParameters
from tests.novels.story import tell_story


def audit(found: NovelSet, texts: BookTexts) -> set[str]:
    return {one.check for one in audit_novels(found, texts, lambda _: None).violations}


def test_every_item_and_twin_is_proven_again(small_set: NovelSet, texts: BookTexts) -> None:
    report = audit_novels(small_set, texts, lambda _: None)
    assert report.violations == ()
    assert report.skipped == {}
    assert report.items == len(small_set.items) > 80
    assert report.twins == len(small_set.twins) > 60
    for hops in (1, 2, 3, 4):
        assert len({item.family for item in small_set.items if len(item.hops) == hops}) == 24


def test_a_chain_is_asked_in_windows_of_several_lengths(small_set: NovelSet) -> None:
    families: dict[str, list[NovelItem]] = {}
    for item in small_set.items:
        families.setdefault(item.family, []).append(item)
    both = [held for held in families.values() if len(held) == 2]
    assert both
    for one, other in both:
        assert {one.window.length, other.window.length} == {4096, 8192}
        assert one.question == other.question
        assert one.answer == other.answer


def test_no_question_names_what_it_asks_for(small_set: NovelSet) -> None:
    for item in small_set.everything:
        named = {clue for hop in item.hops for clue in hop.clues}
        asked = [hop.entity for hop in item.hops if hop.entity is not None]
        assert not named & set(asked)
        assert len(asked) == len(set(asked))
        assert item.question.endswith(("?", "?”"))
        assert item.question.count("?") == 1
        assert "{" not in item.question


def test_the_same_books_give_the_same_bytes(tmp_path: Path, shelf: Path) -> None:
    sums, ids = [], []
    for name, seed in (("one", 0), ("same", 0), ("other", 1)):
        parameters = NovelQuestionsParameters.model_validate({"items": 3, "lengths": ["4k"], "seed": seed})
        folder = tmp_path / name / "set"
        write_novel_set(open_books(shelf, ["ledger"]), folder, parameters, lambda _: None)
        sums.append((folder / "checksums.sha256").read_text())
        ids.append({item.id for item in read_novel_set(folder).items})
    assert sums[0] == sums[1] != sums[2]
    assert ids[0] != ids[2]


def test_the_loader_cuts_every_window_without_hopwright(tmp_path: Path, small_set: NovelSet, shelf: Path) -> None:
    written = tmp_path / "windows.jsonl"
    command = [sys.executable, "-I", str(small_set.folder / "load_windows.py"), str(shelf), str(written)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    contexts = {row["id"]: row["context"] for row in map(json.loads, written.read_text("utf-8").splitlines())}
    assert contexts.keys() == {item.id for item in small_set.everything}
    for item in small_set.everything:
        assert hash_text(contexts[item.id]) == item.window.sha256
        assert "\r" not in contexts[item.id]


def test_the_loader_reads_names_with_separators_of_lines(tmp_path: Path, shelf: Path) -> None:
    """JSON leaves U+2028, U+2029 and U+0085 as they are, and `str.splitlines` cuts at them."""
    story = tell_story(5)
    for separator in "\u2028\u2029\x85":
        story = story.replace("Mrs. Cray", f"Mrs.{separator}Cray", 30)
    (tmp_path / "lines.txt").write_bytes(story.encode())
    book = add_book(tmp_path / "shelf", tmp_path / "lines.txt", BookNotes(title="Lines"))
    parameters = NovelQuestionsParameters.model_validate({"items": 12, "lengths": ["4k"], "twins": False})
    write_novel_set([book], tmp_path / "set", parameters, lambda _: None)
    items = (tmp_path / "set" / "items.jsonl").read_text("utf-8")
    assert len(items.splitlines()) > items.count("\n")
    loader, written = tmp_path / "set" / "load_windows.py", tmp_path / "w.jsonl"
    command = [sys.executable, "-I", str(loader), str(tmp_path), str(written)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert written.read_bytes().count(b"\n") == items.count("\n")


def test_no_lines_of_json_are_cut_where_a_string_may_hold_what_cuts_them() -> None:
    root = Path(__file__).resolve().parents[2]
    wrong = [
        f"{path.relative_to(root)}: {line.strip()}"
        for folder in ("hopwright", "annotation", "flows", "tasks", "scripts")
        for path in sorted((root / folder).rglob("*.py"))
        for line in path.read_text("utf-8").split("\n")
        if re.search(r"splitlines\(\)", line) and re.search(r"json|jsonl", line)
    ]
    assert wrong == []


def test_the_loader_says_which_book_is_missing(tmp_path: Path, small_set: NovelSet) -> None:
    command = [sys.executable, "-I", str(small_set.folder / "load_windows.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "ledger" in done.stderr


def test_embedded_windows_need_no_books(tmp_path: Path, shelf: Path) -> None:
    parameters = NovelQuestionsParameters.model_validate({"items": 3, "lengths": ["4k"], "embed": True})
    folder = tmp_path / "set"
    write_novel_set(open_books(shelf, ["tide"]), folder, parameters, lambda _: None)
    found = read_novel_set(folder)
    texts = BookTexts(found, tmp_path / "no-shelf")
    for item in found.everything:
        assert hash_text(texts.cut(item.window)) == item.window.sha256
    report = audit_novels(found, texts, lambda _: None)
    assert report.violations == ()
    assert any("hopwright novels add" in why for why in report.skipped.values())


def test_embedded_windows_are_held_against_their_hash(tmp_path: Path, shelf: Path) -> None:
    parameters = NovelQuestionsParameters.model_validate({"items": 1, "lengths": ["4k"], "hops": ["1"], "embed": True})
    write_novel_set(open_books(shelf, ["tide"]), tmp_path / "set", parameters, lambda _: None)
    found = read_novel_set(tmp_path / "set")
    assert audit(found, BookTexts(found, shelf)) == set()
    window = found.items[0].window
    forged = replace(found, windows={**found.windows, window.sha256: "FORGED WINDOW"})
    with pytest.raises(InputError, match="has another hash"):
        BookTexts(forged, shelf).cut(window)
    for held in (shelf, tmp_path / "no-shelf"):
        report = audit_novels(forged, BookTexts(forged, held), lambda _: None)
        assert [(one.check, one.item) for one in report.violations] == [("window", found.items[0].id)]
    lacking = replace(found, windows={sha: text for sha, text in found.windows.items() if sha != window.sha256})
    assert audit(lacking, BookTexts(lacking, shelf)) == {"window"}


def test_twins_rename_everybody(small_set: NovelSet, texts: BookTexts) -> None:
    originals = {item.id: item for item in small_set.items}
    for twin in small_set.twins:
        one = originals[twin.twin or ""]
        assert twin.window.book == one.window.book + TWIN
        assert twin.answer != one.answer
        text = texts.cut(twin.window)
        for pair in twin.world:
            assert pair.original not in text
            assert pair.surrogate in text
        assert [hop.step for hop in twin.hops] == [hop.step for hop in one.hops]
    numbers = [item for item in small_set.items if item.hops[-1].entity is None]
    assert numbers
    assert all(item.twin is None for item in numbers)


def change_hop(item: NovelItem, number: int, **fields: object) -> NovelItem:
    hops = list(item.hops)
    hops[number] = hops[number].model_copy(update=fields)
    return item.model_copy(update={"hops": tuple(hops)})


def swap_answer(item: NovelItem) -> NovelItem:
    """Another entity's number, with nothing else changed."""
    entity = item.hops[-1].entity
    return change_hop(item, -1, entity=None if entity is None else entity + 1)


def move_paragraph(item: NovelItem) -> NovelItem:
    first, *rest = item.hops[0].paragraphs
    moved = first.model_copy(update={"start": first.start + 1})
    return change_hop(item, 0, paragraphs=(moved, *rest))


def drop_clue(item: NovelItem) -> NovelItem:
    return change_hop(item, 0, clues=item.hops[0].clues[1:])


def shorten_window(item: NovelItem) -> NovelItem:
    return item.model_copy(update={"window": item.window.model_copy(update={"end": item.window.end - 5})})


FAULTS: dict[str, tuple[Callable[[NovelItem], NovelItem], set[str]]] = {
    "another answer": (swap_answer, {"proofs", "words"}),
    "a paragraph elsewhere": (move_paragraph, {"proofs", "spans"}),
    "a condition too wide": (drop_clue, {"proofs"}),
    "a shorter window": (shorten_window, {"window"}),
    "a leak": (lambda item: item.model_copy(update={"question": f"{item.answer}: {item.question}"}), {"words"}),
    "an alias of somebody else": (
        lambda item: change_hop(item, -1, answer_aliases=("Nobody",)),
        {"words"},
    ),
    "a broken chain": (lambda item: change_hop(item, -1, depends_on=()), {"shape"}),
    "an id that is not the content's": (lambda item: item.model_copy(update={"id": "nv-0"}), {"shape"}),
}


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_the_audit_finds_what_is_planted(small_set: NovelSet, texts: BookTexts, fault: str) -> None:
    plant, expected = FAULTS[fault]
    chosen = [
        item for item in small_set.items
        if len(item.hops) > 1 and item.hops[0].clues and item.hops[-1].entity is not None
    ][:5]  # fmt: skip
    assert chosen
    for item in chosen:
        broken = plant(item)
        found = replace(small_set, items=(broken,), twins=())
        assert expected & audit(found, texts), f"{fault}: {item.id}"


def test_a_changed_book_is_found(small_set: NovelSet, shelf: Path) -> None:
    texts = BookTexts(small_set, shelf)
    item = small_set.items[0]
    text = texts.read(item.window.book)
    place = item.window.start + 10
    texts._texts[item.window.book] = f"{text[:place]}#{text[place + 1 :]}"
    assert "window" in audit(replace(small_set, items=(item,), twins=()), texts)
    with pytest.raises(InputError, match="another hash"):
        texts.cut(item.window)


def test_a_twin_that_kept_its_answer_is_found(small_set: NovelSet, texts: BookTexts) -> None:
    twin = small_set.twins[0]
    original = next(item for item in small_set.items if item.id == twin.twin)
    broken = twin.model_copy(update={"answer": original.answer})
    assert "twins" in audit(replace(small_set, items=(original,), twins=(broken,)), texts)
    assert "twins" in audit(replace(small_set, items=(original,), twins=()), texts)


def test_counts_add_up(small_set: NovelSet) -> None:
    counts = json.loads((small_set.folder / "counts.json").read_text())
    assert counts.keys() == {id for id in small_set.books if not id.endswith(TWIN)}
    for id, held in counts.items():
        assert held["drawn"] == held["proven"] + sum(held["refused"].values())
        own = [item for item in small_set.items if item.window.book == id]
        assert sum(number for name, number in held["made"].items() if name.endswith("k")) == len(own)
        without = sum(number for name, number in held["left_out"].items() if name.startswith("twin: "))
        assert held["made"]["twins"] + without == len(own)


def test_a_damaged_folder_gets_one_line(tmp_path: Path) -> None:
    (tmp_path / "books").mkdir()
    for text in (b"", b"{}\n", b"[1]\n", b"\xff\n"):
        (tmp_path / "items.jsonl").write_bytes(text)
        if text:
            with pytest.raises(InputError) as caught:
                read_novel_set(tmp_path)
            assert "\n" not in str(caught.value)
    (tmp_path / "items.jsonl").write_bytes(b"")
    (tmp_path / "books" / "x.renames.json").write_bytes(b"[[1]]")
    with pytest.raises(InputError, match="damaged"):
        read_novel_set(tmp_path)


def test_distance_and_depth_are_set(tmp_path: Path, shelf: Path) -> None:
    fields = {"items": 8, "lengths": ["4k"], "twins": False, "depths": [0.1, 0.5, 0.9]}
    parameters = NovelQuestionsParameters.model_validate({**fields, "distance": 200, "distance_most": 1500})
    write_novel_set(open_books(shelf, ["ledger"]), tmp_path / "set", parameters, lambda _: None)
    found = read_novel_set(tmp_path / "set")
    texts = BookTexts(found, shelf)
    assert audit_novels(found, texts, lambda _: None).violations == ()
    families: dict[str, set[float]] = {}
    for item in found.items:
        assert all(200 <= one <= 1500 for one in item.distances)
        (depth,) = [one for one in (0.1, 0.5, 0.9) if abs(item.depth - one) <= 0.05]
        families.setdefault(item.family, set()).add(depth)
        # The figure is that of the text: tokens before the answer's paragraph, of all in the window.
        place = item.hops[-1].paragraphs[0].start
        before = count_tokens(texts.show(item.window.book, item.window.start, place))
        assert abs(before / item.window.tokens - item.depth) < 0.01
    assert max(map(len, families.values())) > 1
    assert "tokens between hops" in (tmp_path / "set" / "README.md").read_text("utf-8")
