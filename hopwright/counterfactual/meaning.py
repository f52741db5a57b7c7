"""Whether a reworded text still means the same: by sentence embeddings, and by a model that judges entailment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from hopwright.llm.asking import QueryResult, ask_in_rounds
from hopwright.llm.prompts import Prompt
from hopwright.llm.session import Session
from hopwright.llm.types import ModelRef, Request
from hopwright.text.embeddings import embed


class Similarity(Protocol):
    """How alike two texts are, from -1 to 1."""

    name: str

    def measure(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """One figure per pair, rounded to 4 digits."""
        ...


class Judge(Protocol):
    """Whether two texts say the same."""

    name: str

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[QueryResult[str]]:
        """Per pair an empty value when they do, else what differs; None as value when no judgement could be had."""
        ...


class MiniLmSimilarity:
    """Cosine of all-MiniLM-L6-v2's sentence embeddings, on the CPU. Needs the `local` extra; nothing is fetched."""

    name = "all-MiniLM-L6-v2"

    def measure(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """See Similarity. Raises ServiceError when the model cannot be loaded."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        # Alike lengths in one batch: what is padded is worked on, too.
        texts.sort(key=lambda text: (len(text), text))
        vectors = embed(texts, batch=32)
        place = {text: number for number, text in enumerate(texts)}
        return [round(float(vectors[place[one]] @ vectors[place[other]]), 4) for one, other in pairs]


class ModelJudge:
    """Asks a model whether each of two texts follows from the other."""

    def __init__(self, session: Session, prompt: Prompt, target: ModelRef) -> None:
        self.name = str(target)
        self._session = session
        self._prompt = prompt
        self._target = target

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[QueryResult[str]]:
        """See Judge."""
        return ask_in_rounds(self._session, pairs, self._request, _read_verdict, tries=1)

    def _request(self, pair: tuple[str, str], attempt: int) -> Request:
        return self._prompt.request({"original": pair[0], "reworded": pair[1]}, self._target, seed=attempt)


def _read_verdict(_: tuple[str, str], verdict: Any) -> tuple[str | None, str]:
    if verdict.original_entails_reworded and verdict.reworded_entails_original and verdict.fluent:
        return "", ""
    return verdict.problem or "the judge says that they differ", ""
