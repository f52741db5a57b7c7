"""What a back-translator is: a round trip through one or more languages, with the names held by masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from hopwright.llm.asking import RequestCosts

MaskStyle = Literal["words", "brackets"]
"""How masks look: nonce words ("Xqaba"), which a rule-based translator takes for names, or "[N1]"."""


@dataclass(frozen=True, slots=True)
class RoundTripResult:
    """One text after its round trip; `problem` says why there is none, `lost_mask` whether for the sake of a mask."""

    text: str = ""
    problem: str = ""
    spent: RequestCosts = field(default_factory=RequestCosts)
    lost_mask: bool = False


class BackTranslator(Protocol):
    """A round trip through other languages.

    name: for the provenance, e.g. `apertium eng-spa-eng`. pivots: the languages on the way, in English. style: the
    masks that it bears best. whole: whether its sentences may be taken as they are; else only known paraphrases are
    taken from them. tries: how many different round trips of one text it can offer.
    """

    @property
    def name(self) -> str: ...

    @property
    def pivots(self) -> tuple[str, ...]: ...

    @property
    def style(self) -> MaskStyle: ...

    @property
    def whole(self) -> bool: ...

    @property
    def tries(self) -> int: ...

    def find_obstacle(self) -> str:
        """Why it cannot run here; empty when it can."""
        ...

    def translate(self, texts: Sequence[str], attempt: int = 0) -> list[RoundTripResult]:
        """The texts after the round trip, one for one; another attempt, from 0, gives another sample.

        Raises ServiceError when none of them can be had.
        """
        ...
