"""The gap between originals and twins: large for a model that remembers, none for one that can only reason."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from hopwright.counterfactual.twins import TwinMaker
from hopwright.difficulty.endpoints import EndpointVoter, RequestStyle
from hopwright.difficulty.memory import measure_memory
from hopwright.difficulty.voters import ChosenOption, MissingVote, VoterQuestion
from hopwright.knowledge.wikidata.properties import default_table
from hopwright.llm.session import Session
from hopwright.llm.types import ModelRef
from hopwright.records import LABELS, Item
from hopwright.scoring.intervals import resample_mean
from tests.builders import all_items
from tests.counterfactual.conftest import TinyNames
from tests.e2e.serving import serving
from tests.llm.builders import KEY, settings
from tests.llm.wire_answers import draw
from tests.llm.wire_server import WireServer
from tests.worlds import DictGraph


def make_pairs(count: int) -> list[tuple[Item, Item]]:
    """Originals under ids of their own, each with a twin."""
    pairs = []
    for number in range(count):
        item = all_items()[number % 3]
        item = item.model_copy(
            update={"id": f"hw-{number:016x}", "question": item.question.replace("?", f", in case {number}?")}
        )
        twin = TwinMaker(DictGraph(), TinyNames(), default_table(), seed=number).make_twin(item)
        assert isinstance(twin, Item)
        pairs.append((item, twin))
    return pairs


class Mind(WireServer):
    """Two models behind the wire: `remembers` knows 9 in 10 real questions by heart, `reasons` knows nothing.

    Whoever does not know guesses a letter that depends on the question alone.
    """

    def __init__(self, facts: dict[str, str]) -> None:
        super().__init__()
        self._facts = facts

    async def _answer(self, request: web.Request, body: dict[str, Any], prompt: str, reply: Any) -> web.StreamResponse:
        question = str(body["messages"][-1]["content"]).splitlines()[0]
        known = self._facts.get(question)
        if body["model"] == "remembers" and known and draw(question, "known") < 0.9:
            letter = known
        else:
            letter = LABELS[int(draw(question, body["model"]) * 4)]
        answer = reply(body, prompt, "")
        answer["choices"][0]["message"]["content"] = json.dumps({"choice": letter})
        return web.json_response(answer)


def test_who_remembers_has_a_large_gap_and_who_reasons_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPWRIGHT_TEST_KEY", KEY)
    pairs = make_pairs(60)
    server = Mind({item.question: item.label for item, _ in pairs})
    with serving(server), Session(settings(server), tmp_path / "llm.sqlite") as session:
        voters = [
            EndpointVoter(name, ModelRef("local", name), session, RequestStyle(logprobs=False))
            for name in ("remembers", "reasons")
        ]
        report = measure_memory(voters, pairs, seed=0)
    gap, none = report.gaps["remembers"], report.gaps["reasons"]
    assert gap.low > 0.4 and gap.low <= gap.mean <= gap.high
    assert none.low < 0 < none.high or abs(none.mean) < 0.1
    before, after = report.accuracy["remembers"]
    assert before > 0.85 > 0.5 > after and gap.mean == pytest.approx(before - after, abs=1e-3)
    assert report.overall.mean == pytest.approx((gap.mean + none.mean) / 2, abs=1e-3)
    assert [(row.item, row.twin) for row in report.pairs] == [(item.id, twin.id) for item, twin in pairs]
    assert {row.gap for row in report.pairs} <= {-1.0, -0.5, 0.0, 0.5, 1.0}
    assert report.unanswered == {"remembers": 0, "reasons": 0}


class Fickle:
    """Leaves every twin open."""

    name = "fickle"

    def choose(self, choices: Sequence[VoterQuestion]) -> list[ChosenOption | MissingVote]:
        return [ChosenOption(0) if "Vestmark" in str(one) else MissingVote("refusal", "no") for one in choices]


def test_a_pair_with_a_side_left_open_counts_for_nothing() -> None:
    report = measure_memory([Fickle()], make_pairs(6), seed=0)
    assert report.unanswered == {"fickle": 6} and report.gaps["fickle"].mean == 0.0
    assert all(not row.right and row.gap == 0.0 for row in report.pairs)


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=1, max_size=60), st.integers(0, 9))
def test_the_interval_holds_the_mean_and_the_seed_settles_it(values: list[float], seed: int) -> None:
    one = resample_mean(values, seed=seed, draws=200)
    assert -1 <= one.low <= one.mean + 1e-4 and one.mean - 1e-4 <= one.high <= 1
    assert one == resample_mean(values, seed=seed, draws=200)
    if len(set(values)) == 1:
        assert one.low == one.high == one.mean
