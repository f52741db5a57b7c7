"""Rounds of drafts and wording: it ends with the number asked for, or with all that could be had, and says which."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hopwright.runs import RunFolder, StageManifest
from hopwright.settings import SynthesizeParameters, SynthesizeRun
from hopwright.stages import synthesize
from hopwright.stages.selection import SelectionSurvey, WordingState
from tasks.engine import Engine


class Played:
    """The stages of a synthesis, played: how many drafts a slot gives, and how many wordings are fit."""

    def __init__(self, drafting: float, wording: float, most: int) -> None:
        self.drafting, self.wording, self.most = drafting, wording, most
        self.rng = random.Random(1)
        self.asked: list[str] = []
        self.ends: dict[str, Any] = {}

    def draw(self, _run: object, _parameters: object, state: Any, count: int) -> None:
        held = sum(len(ids) for ids in state.survey.ids)
        made = min(round(count * self.drafting), self.most - held)
        ids = tuple(f"hw-{held + number}" for number in range(made))
        state.drafts.append(SimpleNamespace(name="synthesize/drafts"))
        state.survey = SelectionSurvey((*state.survey.ids, ids), (*state.survey.dropped, {}))
        state.slots += count
        state.exhausted = made < 0.02 * count

    def word(self, _run: object, _parameters: object, state: Any, chosen: list[tuple[int, int, str]]) -> None:
        accepted, rejected = dict(state.wordings.accepted), dict(state.wordings.rejected)
        for _, row, id in chosen:
            self.asked.append(id)
            if self.rng.random() < self.wording:
                accepted[id] = (Path("part"), row)
            else:
                rejected[id] = ("leakage", "said it")
        state.worded.append(SimpleNamespace(name="synthesize/worded"))
        state.wordings = WordingState(accepted, rejected)

    def end(self, _run: object, _parameters: object, state: Any) -> None:
        self.ends = {"kept": sum(1 for _ in state.survey.kept()), "accepted": len(state.wordings.accepted)}
        self.ends |= {"exhausted": state.exhausted, "slots": state.slots}


class PlayedEngine(Engine):
    """Carries nothing out: the stages are played."""

    def execute(self, plan: object, *, fresh: bool = False) -> StageManifest:
        return StageManifest(stage="synthesize")

    def step(self, name: str, function: object, *args: Any) -> Any:
        return None


def play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, played: Played, **wanted: Any) -> dict[str, Any]:
    """The loop over played stages; what it ended with."""
    monkeypatch.setattr(synthesize, "draw_drafts", played.draw)
    monkeypatch.setattr(synthesize, "word_selected_drafts", played.word)
    monkeypatch.setattr(synthesize, "plan_selection", played.end)
    for name in ("check_models", "grant_access"):
        monkeypatch.setattr(synthesize, name, lambda *_: None)
    parameters = SynthesizeRun(run="r", shard_size=50, synthesize=SynthesizeParameters(**wanted))
    synthesize.run_synthesis_rounds(PlayedEngine(RunFolder(tmp_path, "r")), parameters)
    return played.ends


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(1, 600),
    st.sampled_from([0.1, 0.4, 0.9]),
    st.sampled_from([0.3, 0.8, 0.97]),
    st.sampled_from([40, 500, 5000]),
)
def test_it_ends_with_the_number_asked_for_or_with_all_there_was(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, items: int, drafting: float, wording: float, most: int
) -> None:
    played = Played(drafting, wording, most)
    ends = play(monkeypatch, tmp_path, played, items=items, drafts=400, writer="openai", model="local/tiny")
    assert len(played.asked) == len(set(played.asked)), "no draft is paid for twice"
    if ends["accepted"] != items:
        assert ends["accepted"] < items
        assert ends["exhausted"]
        assert len(played.asked) == ends["kept"], "everything that there was has been tried"
    assert len(played.asked) - ends["accepted"] >= 0


@pytest.mark.parametrize(("items", "slots"), [(0, 400), (10, 50), (60, 250), (300, 400)])
def test_only_as_many_slots_are_drawn_as_it_takes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, items: int, slots: int
) -> None:
    ends = play(monkeypatch, tmp_path, Played(0.8, 1.0, 10_000), items=items, drafts=400)
    assert ends["slots"] == slots
    assert ends["kept"] >= items


def test_rules_draw_on_until_there_are_enough(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    played = Played(0.2, 1.0, 10_000)
    ends = play(monkeypatch, tmp_path, played, items=500, drafts=400)
    assert ends["kept"] >= 500
    assert ends["slots"] < 2 * 500 / 0.2
    assert played.asked == []


def test_without_a_number_every_draft_is_worded_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    played = Played(0.5, 0.8, 10_000)
    ends = play(monkeypatch, tmp_path, played, drafts=400, writer="anthropic", model="anthropic/claude-sonnet-5-5")
    assert len(played.asked) == ends["kept"] == 200
    assert ends["slots"] == 400
