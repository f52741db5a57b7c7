"""Frames of questions about pictures: many of each kind, each filled whole."""

from __future__ import annotations

import re
import string

import pytest

from hopwright.wording.rules import picture_frames as frames

FEWEST = 8
KINDS = {
    **{f"ask {name}": asks for name, asks in frames.ASK.items()},
    **{
        f"holder {name}": [f"{told} {ask}" for told in frames.HOLDER_TOLD for ask in asks]
        for name, asks in frames.ASK_HOLDER.items()
    },
    **{f"difference {name}": asks for name, asks in frames.DIFFERENCE.items()},
    **{f"ratio {name}": asks for name, asks in frames.RATIO.items()},
    "which": frames.WHICH, "common": frames.COMMON, "common told": frames.COMMON_TOLD,
    "years between": frames.YEARS_BETWEEN, "more neighbours": frames.MORE_NEIGHBOURS,
    "winner": frames.WINNER_TOLD, "best": (*frames.BEST, *frames.BEST_TOLD),
    **{f"shown {kind}": (*frames.SHOWN[kind], *frames.TOLD[kind]) for kind in frames.SHOWN},
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_there_are_many_frames_of_each_kind(kind: str) -> None:
    assert len(set(KINDS[kind])) == len(KINDS[kind]) >= FEWEST


@pytest.mark.parametrize("kind", KINDS)
def test_frames_have_slots_that_are_filled(kind: str) -> None:
    known = {"n", "did", "office", "he", "his", "a", "b", "number", "Number", "that", "best", "by", "x"}
    for frame in KINDS[kind]:
        for text in (frame,) if isinstance(frame, str) else frame:
            assert {name for _, name, _, _ in string.Formatter().parse(text) if name is not None} <= known


@pytest.mark.parametrize("kind", KINDS)
def test_a_border_is_said_to_be_one_on_land(kind: str) -> None:
    """Azerbaijan and Turkmenistan face each other across the Caspian, and would be neighbours otherwise."""
    for frame in KINDS[kind]:
        text = frame if isinstance(frame, str) else frame[0]
        if re.search("border|neighbour", text):
            assert re.search(r"\b[Ll]and\b", text)
