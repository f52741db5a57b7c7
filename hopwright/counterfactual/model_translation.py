"""Back-translation by a language model (CofCA, section 3.1, goes through Chinese)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hopwright.counterfactual.rewording_checks import count_masks
from hopwright.counterfactual.translating import MaskStyle, RoundTripResult
from hopwright.llm.asking import ask_in_rounds
from hopwright.llm.prompts import Prompt
from hopwright.llm.session import Session
from hopwright.llm.types import ModelRef, Request

HOME = "English"


class ModelBackTranslator:
    """English → pivots → English, one request a leg. pivots: at least one language, by its English name.

    Masks are counted after every leg; a leg that lost or doubled one, or turned it into words, is asked again with
    another seed, up to `samples` times. tries: how many different round trips may be asked for.
    """

    style: MaskStyle = "brackets"
    whole = True

    def __init__(
        self,
        session: Session,
        prompt: Prompt,
        target: ModelRef,
        *,
        pivots: Sequence[str] = ("Chinese",),
        tries: int = 2,
        samples: int = 2,
    ) -> None:
        self.pivots = tuple(pivots)
        self.name = f"{target} {'-'.join((HOME, *self.pivots, HOME))}"
        self.tries = tries
        self._session = session
        self._prompt = prompt
        self._target = target
        self._samples = samples

    def find_obstacle(self) -> str:
        """Models are checked before a run begins."""
        return ""

    def translate(self, texts: Sequence[str], attempt: int = 0) -> list[RoundTripResult]:
        """See BackTranslator."""
        wanted = [count_masks(text) for text in texts]
        done = [RoundTripResult(text) for text in texts]
        path = (HOME, *self.pivots, HOME)
        for source, target in itertools.pairwise(path):
            places = [place for place, one in enumerate(done) if not one.problem]
            legs = [
                _TranslationLeg(done[place].text, wanted[place], source, target, attempt * self._samples)
                for place in places
            ]
            asked = ask_in_rounds(self._session, legs, self._request, _judge, tries=self._samples)
            for place, one in zip(places, asked, strict=True):
                problem = f"into {target}: {one.problem}" if one.value is None else ""
                done[place] = RoundTripResult(one.value or "", problem, done[place].spent + one.spent, one.refused)
        return done

    def _request(self, leg: _TranslationLeg, sample: int) -> Request:
        inputs = {"source_language": leg.source, "target_language": leg.target, "text": leg.text}
        return self._prompt.request(inputs, self._target, seed=leg.seed + sample)


@dataclass(frozen=True, slots=True)
class _TranslationLeg:
    """One text on its way from one language into the next. masks: what must be in it once each."""

    text: str
    masks: dict[str, int]
    source: str
    target: str
    seed: int


def judge_leg(text: str, masks: dict[str, int]) -> tuple[str | None, str]:
    """The text of one leg, or which mask it does not hold exactly once."""
    found = count_masks(text)
    for mask in masks:
        if found.get(mask, 0) != 1:
            return None, f"{mask} came back {found.get(mask, 0)} times"
    if unknown := sorted(found.keys() - masks.keys()):
        return None, f"{unknown[0]} was not in the text"
    return text, ""


def _judge(leg: _TranslationLeg, answer: Any) -> tuple[str | None, str]:
    return judge_leg(answer.text, leg.masks)
