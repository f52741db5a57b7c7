"""Near duplicates and overlap: what repeats is found and named, what only looks alike is not."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopwright.checks.near_duplicates import NEAR, NearDuplicateFinder, cut
from hopwright.checks.overlap import PUBLISHED, OverlapFinder, OverlapScreen
from hopwright.errors import InputError
from hopwright.foreign import LONGEST_LINE
from hopwright.stages.selection import DraftKey, select
from tests.builders import chain_item, converging_item

WORDS = st.sampled_from("Red blue Green grey pink 12 white".split())
LONG = "How many years lie between the founding of the country whose capital is Port Sabel and the founding of {}?"


class TestNearDuplicates:
    def test_one_name_changed_in_a_long_question_is_a_near_duplicate(self):
        finder = NearDuplicateFinder()
        assert finder.add(LONG.format("Vestmark"), "first") is None
        near = finder.add(LONG.format("Karelund"), "second")
        assert near is not None and near.key == "first" and NEAR <= near.share < 1
        assert finder.add("Who directed Night Harbour and was born in Nilsby?", "third") is None

    def test_what_was_refused_is_not_remembered(self):
        finder = NearDuplicateFinder()
        finder.add(LONG.format("Vestmark"), "first")
        finder.add(LONG.format("Karelund"), "second")
        near = finder.add(LONG.format("Karelund"), "third")
        assert near is not None and near.key == "first"

    @given(st.lists(st.sampled_from("red blue green grey pink white black brown".split()), min_size=1, max_size=30))
    def test_a_text_is_a_near_duplicate_of_itself_in_any_case(self, words):
        finder = NearDuplicateFinder()
        finder.add(" ".join(words), "one")
        near = finder.add(" ".join(words).upper() + "?", "two")
        assert near is not None and near.share == 1

    def test_pieces_are_the_same_in_every_process(self):
        assert cut("who DIRECTED: night") == cut("Who directed Night?") == {14801279251924832425}
        assert cut("Two words") and len(cut("one two three four")) == 2

    @given(st.lists(st.lists(st.sampled_from("red blue green grey pink".split()), min_size=3, max_size=9), max_size=12))
    def test_what_is_found_is_what_measuring_every_pair_finds(self, texts):
        finder = NearDuplicateFinder()
        for place, words in enumerate(texts):
            ours = cut(" ".join(words))
            wanted = {
                str(other)
                for other, theirs in enumerate(map(cut, map(" ".join, texts[:place])))
                if len(ours & theirs) >= 0.95 * len(ours | theirs)
            }
            found = finder.find_all(" ".join(words))
            assert wanted <= {near.key for near in found}, "signatures never miss what is all but the same"
            for near in found:
                theirs = cut(" ".join(texts[int(near.key)]))
                assert near.share == pytest.approx(len(ours & theirs) / len(ours | theirs))
                assert near.share >= NEAR
            finder.insert(" ".join(words), str(place))

    def test_selection_drops_the_later_one_and_names_its_twin(self):
        drafts = [
            DraftKey(0, "a", "chain", "1", LONG.format("Vestmark")),
            DraftKey(1, "b", "chain", "2", "Who directed Night Harbour?"),
            DraftKey(2, "c", "chain", "3", LONG.format("Karelund")),
        ]
        dropped = select(drafts, max_answer_share=1)
        assert list(dropped) == [2]
        check, reason = dropped[2]
        assert check == "near_duplicate" and "the same as a," in reason and "Vestmark" in reason


@pytest.fixture
def finder() -> OverlapFinder:
    finder = OverlapFinder()
    finder.add_item("a", chain_item())
    finder.add_item("b", converging_item())
    return finder


def write(path: Path, data: object) -> Path:
    path.write_text(json.dumps(data), "utf-8")
    return path


class TestOverlap:
    def test_the_same_question_in_other_spelling_is_found(self, finder, tmp_path):
        finder.compare(write(tmp_path / "q.json", [{"question": chain_item().question.upper()}]))
        (match,) = finder.report().questions
        assert (match.key, match.way, match.file, match.place) == ("a", "same", "q.json", 1)

    def test_records_without_a_question_are_counted(self, finder, tmp_path, monkeypatch):
        rows = [{"question": "Who?"}, {"query": "Where?"}, 7, None, {"question": ""}, {"question": 7}, "When?"]
        file = finder.compare(write(tmp_path / "q.json", rows))
        assert (file.questions, file.unread) == (2, 5)
        assert "q.json (2 questions, 5 records without one that is read)" in finder.report().lines()[0]
        lines = tmp_path / "q.txt"
        lines.write_bytes(b"Who?\n\n" + b"x" * (LONGEST_LINE + 1) + b"\nWhere?\n")
        file = finder.compare(lines)
        assert (file.questions, file.unread) == (2, 1)

    def test_eight_words_in_a_row_and_most_pieces_are_found(self, finder, tmp_path):
        words = converging_item().question.split()
        shared = " ".join(["Tell", "me", *words[2:11], "and", "why"])
        nearly = chain_item().question.replace("Night Harbour", "Glass Meridian")
        finder.compare(write(tmp_path / "q.json", [{"question": shared}, {"question": nearly}]))
        ways = {match.key: match.way for match in finder.report().questions}
        assert ways == {"a": "near", "b": "run"}

    @given(
        st.lists(st.lists(WORDS, max_size=14), max_size=8),
        st.lists(st.lists(WORDS, max_size=14), min_size=1, max_size=8),
    )
    def test_a_screen_holds_nothing_back_that_repeats_one_of_theirs(self, tmp_path_factory, ours, theirs):
        path = tmp_path_factory.mktemp("theirs") / "q.json"
        write(path, [{"question": " ".join(words) or "?"} for words in theirs])
        reports = []
        for finder in (OverlapFinder(), OverlapFinder(OverlapScreen([path]))):
            for place, words in enumerate(ours):
                finder.add(str(place), " ".join(words))
            finder.compare(path)
            reports.append(finder.report())
        assert reports[0] == reports[1]

    def test_a_run_without_a_name_or_a_number_is_anybodys(self, tmp_path):
        finder = OverlapFinder()
        finder.add("a", "Which is the country of citizenship of the person who directed Night Harbour?")
        other = "Who found the country of citizenship of the person who wrote Glass Meridian in Iria in the end?"
        finder.compare(write(tmp_path / "q.json", [{"question": other}]))
        assert finder.report().questions == ()

    def test_another_question_is_no_overlap(self, finder, tmp_path):
        finder.compare(
            write(tmp_path / "q.json", [{"question": "Who built the harbour of Port Sabel, and in what year?"}])
        )
        assert finder.report().questions == finder.report().sub_questions == ()

    def test_sub_questions_are_stated_apart(self, finder, tmp_path):
        asked = chain_item().hops[1].question
        parts = [{"question": asked}, {"question": "Who led #1 ?"}]
        record = {"question": "?", "paragraphs": [{"idx": 0}], "question_decomposition": parts}
        finder.compare(write(tmp_path / "m.json", [record]))
        report = finder.report()
        assert report.questions == ()
        assert {match.key for match in report.sub_questions} == {"a:2", "b:1"}
        assert report.compared[0].name == "MuSiQue" and report.compared[0].questions == 2

    @pytest.mark.parametrize(
        ("record", "name"),
        [
            ({"question": "q", "question_decomposition": [], "paragraphs": [{"idx": 0}]}, "MuSiQue"),
            ({"question": "q", "question_decomposition": [], "paragraphs": []}, "file.json"),
            ({"question": "q", "supporting_facts": [], "context": [], "level": "hard"}, "HotpotQA"),
            ({"question": "q", "supporting_facts": [], "context": [], "evidences": []}, "2WikiMultihopQA"),
            ({"question": "q"}, "file.json"),
        ],
    )
    def test_published_sets_are_known_by_their_fields(self, record, name, finder, tmp_path):
        assert finder.compare(write(tmp_path / "file.json", [record])).name == name
        assert set(finder.report().not_compared) == set(PUBLISHED) - {name}

    def test_json_lines_text_objects_and_gzip_are_read(self, finder, tmp_path):
        question = chain_item().question
        (tmp_path / "a.jsonl").write_text(f'{{"question": "x"}}\n\n{json.dumps({"question": question})}\n')
        (tmp_path / "b.txt").write_text(f"x\n{question}\n")
        write(tmp_path / "c.json", {"version": 1, "data": [{"question": question}]})
        (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress(json.dumps({"question": question}).encode()))
        for name in ("a.jsonl", "b.txt", "c.json", "d.jsonl.gz"):
            other = OverlapFinder()
            other.add("a", question)
            other.compare(tmp_path / name)
            assert [match.way for match in other.report().questions] == ["same"], name

    @pytest.mark.parametrize("text", ["[]", "[1, 2]", '{"a": 1}', ""])
    def test_a_file_without_questions_is_one_clear_line(self, text, finder, tmp_path):
        (tmp_path / "q.json").write_text(text)
        with pytest.raises(InputError, match=r"q\.json.*no questions"):
            finder.compare(tmp_path / "q.json")

    def test_missing_and_broken_files_are_one_clear_line(self, finder, tmp_path):
        with pytest.raises(InputError, match="cannot read"):
            finder.compare(tmp_path / "none.json")
        (tmp_path / "broken.jsonl").write_text('{"question": "a"}\n{"question"')
        with pytest.raises(InputError, match="line 2: not JSON"):
            finder.compare(tmp_path / "broken.jsonl")
        (tmp_path / "x.json.gz").write_bytes(b"no gzip")
        with pytest.raises(InputError, match="cannot read"):
            finder.compare(tmp_path / "x.json.gz")

    def test_nothing_compared_says_so(self, finder):
        report = finder.report()
        assert report.compared == () and report.not_compared == PUBLISHED
        assert report.lines()[0].startswith("compared with nothing")


def test_a_line_of_json_may_hold_a_line_separator(tmp_path: Path) -> None:
    """U+2028 stands unescaped in questions that were taken from web pages."""
    rows = [{"question": f"Who\u2028wrote {name}?"} for name in ("Night", "Dawn")]
    path = tmp_path / "q.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    assert OverlapFinder().compare(path).questions == 2


def test_more_records_than_any_set_has_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hopwright.checks.overlap._MOST_RECORDS", 3)
    path = tmp_path / "many.json.gz"
    path.write_bytes(gzip.compress(b"[{},{},{},{}]"))
    with pytest.raises(InputError, match="more than 3 records"):
        OverlapFinder().compare(path)


@pytest.mark.parametrize(
    "text",
    [
        '[{"question": "Who was it that sang in Nilsby?"},\n {"question": "Half \\ud800 of a pair?"}]',
        '{"data": [\n{"question": "Who was it?"}, {"question": "And who then?"}]}',
        '{"question": "Who was it?"}\n{"question": "And who then?"}\n',
        '{"version": 1}\n{"question": "Who was it?"}\n{"question": "And who then?"}\n',
    ],
)
def test_records_come_from_arrays_objects_and_lines(text: str, tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text(text, "utf-8")
    assert OverlapFinder().compare(path).questions == 2
