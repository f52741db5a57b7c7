"""What is found wrong with a model's wording."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WordingProblem:
    """One thing that is wrong with an answer: its kind, for the count, and the words for the model.

    `hint`: nothing is wrong as far as can be seen, but no known word says what the plan says. A model is told so once;
    if it keeps its words, they stand.
    """

    kind: str
    text: str
    hint: bool = False
