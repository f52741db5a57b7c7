"""Which finder of names is meant: rules, spaCy, or a language model."""

from __future__ import annotations

from hopwright.knowledge.books.mentions import NameFinder, RuleFinder
from hopwright.knowledge.books.model_finder import Complete, ModelFinder

RULES, SPACY = "rules", "spacy"


def is_model(finder: str) -> bool:
    """Whether a finder is a language model, as endpoint/model."""
    return "/" in finder


def open_finder(finder: str, complete: Complete | None = None) -> NameFinder:
    """The finder of that name; `complete` is how a language model is asked.

    Raises InputError where spaCy or its model is not installed, and ValueError for a model that nobody asks.
    """
    if finder == RULES:
        return RuleFinder()
    if not is_model(finder):
        from hopwright.knowledge.books.spacy_finder import SpacyFinder

        return SpacyFinder(finder.partition(":")[2])
    if complete is None:
        raise ValueError(f"{finder}: a model that finds names has to be asked")
    return ModelFinder(finder, complete)
