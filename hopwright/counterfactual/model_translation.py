"""Back-translation by a language model (CofCA, section 3.1, goes through Chinese)."""

from __future__ import annotations

from collections.abc import Sequence

from hopwright.counterfactual.asking import Asked, Spent, ask_in_rounds
from hopwright.counterfactual.gates import count_masks
from hopwright.counterfactual.translating import MaskStyle, Translated
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

    def translate(self, texts: Sequence[str], attempt: int = 0) -> list[Translated]:
        """See BackTranslator."""
        wanted = [count_masks(text) for text in texts]
        done = [Translated(text) for text in texts]
        path = (HOME, *self.pivots, HOME)
        for source, target in zip(path, path[1:], strict=False):
            places = [place for place, one in enumerate(done) if not one.problem]
            asked: list[Asked[str]] = ask_in_rounds(
                self._session,
                [
                    lambda sample, text=done[place].text: self.ask(text, source, target, attempt * self._samples + sample)
                    for place in places
                ],
                [lambda answer, masks=wanted[place]: judge_leg(answer.text, masks) for place in places],
                tries=self._samples,
            )
            for place, one in zip(places, asked, strict=True):
                problem = f"into {target}: {one.problem}" if one.value is None else ""
                done[place] = Translated(one.value or "", problem, done[place].spent + one.spent)
        return done

    def ask(self, text: str, source: str, target: str, seed: int) -> Request:
        """The request of one leg."""
        return self._prompt.request(
            {"source_language": source, "target_language": target, "text": text}, self._target, seed=seed
        )


def judge_leg(text: str, masks: dict[str, int]) -> tuple[str | None, str]:
    """The text of one leg, or which mask it does not hold exactly once."""
    found = count_masks(text)
    for mask in masks:
        if found.get(mask, 0) != 1:
            return None, f"{mask} came back {found.get(mask, 0)} times"
    if unknown := sorted(found.keys() - masks.keys()):
        return None, f"{unknown[0]} was not in the text"
    return text, ""


def merge_spent(parts: Sequence[Spent]) -> Spent:
    """The sum of what several texts cost."""
    total = Spent()
    for part in parts:
        total = total + part
    return total
