"""Back-translation, passages and judgements by a model, against a server that speaks the wire format and misbehaves."""

from __future__ import annotations

from pathlib import Path

import pytest

from hopwright.counterfactual.back_translation import (
    RewordingBounds,
    apply_back_translation,
    back_translate,
    list_questions,
)
from hopwright.counterfactual.meaning import MiniLmSimilarity, ModelJudge
from hopwright.counterfactual.model_translation import ModelBackTranslator
from hopwright.llm.prompts import read_prompts
from hopwright.llm.session import Session
from hopwright.llm.types import ModelRef
from hopwright.records import Item
from hopwright.text.embeddings import find_obstacle
from tests.builders import all_items
from tests.counterfactual.conftest import make_maker
from tests.counterfactual.translating_server import FAULTS, TranslatingServer
from tests.e2e.serving import serving
from tests.llm.builders import KEY, settings

PROMPTS = read_prompts(Path(__file__).resolve().parents[2] / "prompts")
TARGET = ModelRef("local", "tiny")


@pytest.fixture(autouse=True)
def planted_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWRIGHT_TEST_KEY", KEY)


@pytest.fixture(scope="module")
def twins() -> list[Item]:
    return [twin for item in all_items() if isinstance(twin := make_maker(3).make_twin(item), Item)]


def reword(
    server: TranslatingServer, folder: Path, twins: list[Item], *, pivots: tuple[str, ...] = ("Chinese",), tries: int =
    2, judge: bool = False, gates: RewordingBounds | None = None,
) -> list[Item]:  # fmt: skip
    with serving(server), Session(settings(server), folder / "llm.sqlite") as session:
        translator = ModelBackTranslator(session, PROMPTS["translate"], TARGET, pivots=pivots, tries=tries)
        bounds = gates or RewordingBounds(
            judge=ModelJudge(session, PROMPTS["judge-entailment"], TARGET) if judge else None
        )
        return [
            apply_back_translation(twin, one)
            for twin, one in zip(twins, back_translate(twins, translator, bounds), strict=True)
        ]


def outcome_of(item: Item) -> tuple[str, str]:
    (check,) = [check for check in item.checks if check.name == "back_translation"]
    return check.outcome, check.reason


def test_a_faithful_model_rewords_and_every_name_and_number_comes_back(twins: list[Item], tmp_path: Path) -> None:
    server = TranslatingServer()
    done = reword(server, tmp_path, twins)
    assert set(server.legs) == {("English", "Chinese"), ("Chinese", "English")}
    for before, after in zip(twins, done, strict=True):
        for old, new in zip(list_questions(before), list_questions(after), strict=True):
            for name in (*(one.surrogate for one in before.world), before.answer):
                assert old.count(name) == new.count(name)
            assert "译" not in new and "[N" not in new
        used = after.provenance
        changed = list_questions(before) != list_questions(after)
        assert used.back_translation == ("local/tiny English-Chinese-English" if changed else "")
        assert used.request_keys and used.input_tokens > 0
    assert any(list_questions(a) != list_questions(b) for a, b in zip(twins, done, strict=True))


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_nothing_that_is_spoiled_gets_through(fault, twins: list[Item], tmp_path: Path) -> None:
    masked = {"drop", "double", "translate_mask", "renumber", "break_mask"}
    done = reword(TranslatingServer(fault), tmp_path, twins)
    for before, after in zip(twins, done, strict=True):
        texts = list_questions(after)
        assert not any(sign in text for text in texts for sign in ("[N", "[ N", "诺", "吗", "Norlund"))
        for old, new in zip(list_questions(before), texts, strict=True):
            assert all(old.count(one.surrogate) == new.count(one.surrogate) for one in before.world)
            if fault.__name__ in masked and any(one.surrogate in old for one in before.world):
                assert new == old
        if texts[0] == before.question:
            outcome, reason = outcome_of(after)
            assert outcome == "fail" and reason


def test_what_fails_is_tried_again_as_another_sample(twins: list[Item], tmp_path: Path) -> None:
    server = TranslatingServer(FAULTS["drop"], once=True)
    done = reword(server, tmp_path, twins)
    assert any(list_questions(a) != list_questions(b) for a, b in zip(twins, done, strict=True))
    seeds = {body.get("seed") for body in server.bodies}
    assert {0, 1} <= seeds


def test_a_chain_of_pivots_is_gone_through_in_order(twins: list[Item], tmp_path: Path) -> None:
    server = TranslatingServer()
    reword(server, tmp_path, twins[:1], pivots=("Chinese", "German"), tries=1)
    assert set(server.legs) == {("English", "Chinese"), ("Chinese", "German"), ("German", "English")}


def test_the_next_pivot_is_asked_for_what_the_first_one_spoils(twins: list[Item], tmp_path: Path) -> None:
    server = TranslatingServer(lambda text, target: FAULTS["drop"](text, target) if target == "Chinese" else text)
    with serving(server), Session(settings(server), tmp_path / "llm.sqlite") as session:
        chain = [
            ModelBackTranslator(session, PROMPTS["translate"], TARGET, pivots=(pivot,), tries=1)
            for pivot in ("Chinese", "German")
        ]
        done = [
            apply_back_translation(twin, one) for twin, one in zip(twins, back_translate(twins, chain), strict=True)
        ]
    used = {one.provenance.back_translation for one in done} - {""}
    assert used and all(name.endswith("English-German-English") for name in used)


def test_a_judge_that_says_no_keeps_the_old_wording(twins: list[Item], tmp_path: Path) -> None:
    done = reword(TranslatingServer(verdict=False), tmp_path, twins, judge=True)
    assert [list_questions(one) for one in done] == [list_questions(one) for one in twins]
    reasons = [outcome_of(one)[1] for one in done]
    assert any("meaning: it says something else" in reason for reason in reasons)
    kept = reword(TranslatingServer(verdict=True), tmp_path / "yes", twins, judge=True)
    assert [list_questions(one) for one in kept] != [list_questions(one) for one in twins]


class Figure:
    """A similarity that is always the same."""

    name = "figure"

    def __init__(self, value: float) -> None:
        self._value = value

    def measure(self, pairs: list[tuple[str, str]]) -> list[float]:
        return [self._value] * len(pairs)


def test_bounds_of_similarity_and_overlap_are_kept(twins: list[Item], tmp_path: Path) -> None:
    for name, gates, passes in (
        ("near", RewordingBounds(min_similarity=0.8, similarity=Figure(0.9)), True),
        ("far", RewordingBounds(min_similarity=0.8, similarity=Figure(0.7)), False),
        ("same", RewordingBounds(max_overlap=0.05), False),
    ):
        done = reword(TranslatingServer(), tmp_path / name, twins, gates=gates)
        assert (list_questions(done[0]) != list_questions(twins[0])) == passes
        reason = outcome_of(done[0])[1]
        assert (
            ("similarity 0.900" in reason) if passes else ("similarity 0.700" in reason or "too much stayed" in reason)
        )


def test_sentence_embeddings_tell_a_paraphrase_from_another_question() -> None:
    if obstacle := find_obstacle():
        pytest.skip(obstacle)
    near, far = MiniLmSimilarity().measure(
        [
            ("In what year was the country founded?", "In which year was the country established?"),
            ("In what year was the country founded?", "Who directed the film about the lighthouse?"),
        ]
    )
    assert near > 0.85 > 0.4 > far
