"""Conversations that were answered by hand, replayed: back-translation through two pivots, the judge, and claims."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from hopwright.counterfactual.meaning import ModelJudge
from hopwright.counterfactual.model_translation import ModelBackTranslator
from hopwright.knowledge.external.proposing import PROMPT, ProposalRequest, propose
from hopwright.llm.prompts import load_prompts
from hopwright.llm.session import Session
from hopwright.llm.types import ModelRef
from hopwright.records import Domain
from tests.e2e.serving import serving
from tests.llm.builders import KEY, settings
from tests.llm.wire_server import WireServer

RECORDED = json.loads(Path(__file__).with_name("hand_answers.json").read_text("utf-8"))
TARGET = ModelRef("local", "tiny")


class Replaying(WireServer):
    """Gives the recorded answer to what was asked then, and fails on anything else."""

    def __init__(self) -> None:
        super().__init__()
        self.known = {row["asked"]: row["answered"] for row in RECORDED["rows"]}
        self.used: set[str] = set()

    async def _answer(self, request: web.Request, body: dict[str, Any], prompt: str, reply: Any) -> web.StreamResponse:
        self.answered[prompt] += 1
        self.counts["answered"] += 1
        asked = str(body["messages"][-1]["content"])
        self.used.add(asked)
        answer = reply(body, prompt, "")
        answer["choices"][0]["message"]["content"] = self.known[asked]
        return web.json_response(answer)


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("HOPWRIGHT_TEST_KEY", KEY)
    with serving(Replaying()) as server, Session(settings(server), tmp_path / "llm.sqlite", run="r") as session:
        yield session


def test_two_pivots_bring_every_mask_back_and_the_judge_finds_the_one_that_was_mistranslated(session: Session) -> None:
    translator = ModelBackTranslator(session, load_prompts()["translate"], TARGET, pivots=("Spanish", "German"))
    done = translator.translate(RECORDED["texts"])
    assert len(done) == 15
    assert not [one.problem for one in done if one.problem]
    assert sum(one.text != text for one, text in zip(done, RECORDED["texts"], strict=True)) >= 12
    pairs = [(text, one.text) for text, one in zip(RECORDED["texts"], done, strict=True)]
    judged = ModelJudge(session, load_prompts()["judge-entailment"], TARGET).judge(pairs)
    wrong = [pair for pair, one in zip(pairs, judged, strict=True) if one.value]
    assert len(judged) == 15
    # "to come out after his death": Spanish and German have to say whose.
    assert [original for original, _ in wrong] == [text for text in RECORDED["texts"] if "after his death" in text]


def test_claims_that_somebody_made_with_care_are_all_kept(session: Session) -> None:
    """Numbers in words, hundreds too, are read as what they are."""
    wish = ProposalRequest(TARGET, 15, (Domain.HISTORY, Domain.SPORTS, Domain.FILM))
    found = propose(wish, load_prompts()[PROMPT], session)
    assert found.refused == ()
    assert len(found.claims) == 15
