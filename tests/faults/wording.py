"""Words that are no question."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tests.faults.planting import Row, each_hop, fault

_YEAR = re.compile(r"(?<!\d)(?:1\d{3}|20\d{2})(?!\d)")


def _reworded(row: Row, change: Callable[[str], str]) -> Iterator[Row]:
    """The multi-hop question reworded, then each sub-question; only where the change changes something."""
    if change(row["multi_hop_question"]) != row["multi_hop_question"]:
        yield row | {"multi_hop_question": change(row["multi_hop_question"])}
    for faulty, hop in each_hop(row):
        if change(hop["question"]) != hop["question"]:
            hop["question"] = change(hop["question"])
            yield faulty


@fault("form")
def unfilled_placeholder(row, graph):
    for placeholder in ("{s}", "hop1", "#2", "Q903", "[ANSWER]"):
        yield from _reworded(row, lambda text, p=placeholder: text[:-1] + f" of {p}?")


@fault("grammar")
def doubled_word(row, graph):
    yield from _reworded(row, lambda text: text.replace(" the ", " the the ", 1))
    yield from _reworded(row, lambda text: text.replace(" was ", " was was ", 1))


@fault("grammar")
def unbalanced_quote(row, graph):
    for mark in ('"', "“", "("):
        yield from _reworded(row, lambda text, m=mark: text.replace(" ", f" {m}", 1))


@fault("form")
def no_question_mark(row, graph):
    yield from _reworded(row, lambda text: text[:-1] + ".")
    yield from _reworded(row, lambda text: text + "?")


@fault("form")
def double_space(row, graph):
    yield from _reworded(row, lambda text: text.replace(" ", "  ", 1))
    yield from _reworded(row, lambda text: text[:-1] + " ?")


@fault("grammar")
def wrong_article(row, graph):
    yield from _reworded(row, lambda text: text[:-1] + " in a island?")
    yield from _reworded(row, lambda text: text[:-1] + " in an country?")


@fault("grammar")
def two_articles(row, graph):
    yield from _reworded(row, lambda text: text.replace(" the ", " the a ", 1))


@fault("grammar")
def doubled_relative_pronoun(row, graph):
    yield from _reworded(row, lambda text: text[:-1] + " that which is meant?")
    yield from _reworded(row, lambda text: text[:-1] + " whose which is meant?")


@fault("grammar")
def wrong_preposition(row, graph):
    yield from _reworded(row, lambda text: text.replace(" of ", " in of ", 1))


@fault("grammar")
def capital_in_the_middle(row, graph):
    yield from _reworded(row, lambda text: re.sub(r" the (?=[a-z])", " The ", text, count=1))


@fault("grammar")
def cut_off(row, graph):
    for word in ("the", "and", "whose"):
        yield from _reworded(row, lambda text, w=word: f"{text[:-1]} {w}?")


@fault("form")
def lower_case_start(row, graph):
    yield from _reworded(row, lambda text: text[0].lower() + text[1:])


@fault("time-dependence")
def asked_as_of_today(row, graph):
    yield from _reworded(row, lambda text: text[:-1] + " today?")
    yield from _reworded(row, lambda text: text.replace(" the ", " the current ", 1))
    yield from _reworded(row, lambda text: text[:-1] + " as of this writing?")
    yield from _reworded(row, lambda text: text[:-1] + " before the incumbent?")


@fault("undated")
def value_that_changes(row, graph):
    for faulty, hop in each_hop(row):
        if hop["derivation"]["op"] == "lookup" and not _YEAR.search(hop["question"]):
            hop["derivation"]["property"] = "P1082" if hop["answer_type"] == "number" else "P6"
            yield faulty
