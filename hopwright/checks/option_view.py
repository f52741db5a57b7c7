"""What a guesser could know of four options: which of them meet an open condition, when they lived, how well known they
are, whether they are compared, and whether other steps name them.
"""

from __future__ import annotations

from hopwright.checks.case import CheckContext, CheckedItem
from hopwright.checks.guessing import Guess, OptionView, view_options
from hopwright.checks.open_conditions import is_hidden_choice, is_met, list_compared, read_open_conditions
from hopwright.knowledge.wikidata.dates import find_year
from hopwright.records import LABELS, Compute, Hop
from hopwright.records.values import Value


def view_hop(case: CheckedItem, hop: Hop, context: CheckContext | None, *, final: bool = False) -> Guess | None:
    """A hop as a guesser sees it, or the multi-hop question with its options; None where there are no four options.

    Without a graph, nothing is said of conditions, eras and popularity.
    """
    item = case.item
    options, label = (item.options, item.label) if final else (hop.options, hop.label)
    if label is None or sorted(options) != list(LABELS):
        return None
    guess = view_options(item.question if final else hop.question, options, label, hop.answer_type)
    if not case.planned:
        return guess
    view = OptionView(
        elsewhere=_count_elsewhere(case, hop, guess), inputs_stated=not final and isinstance(hop.derivation, Compute)
    )
    ids = _find_ids(hop, guess)
    if hop.answer_type == "entity" and all(ids):
        if isinstance(hop.derivation, Compute) and not (final and is_hidden_choice(hop.derivation)):
            compared = list_compared(hop.derivation, case.stated, context.facts if context is not None else None)
            view = view.add(compared=tuple(one in compared for one in ids))
        if context is not None and context.graph is not None and case.factual:
            view = _add_knowledge(view, case, hop, ids, context, final=final)
    return guess.add(view)


def _add_knowledge(
    view: OptionView, case: CheckedItem, hop: Hop, ids: tuple[str, ...], context: CheckContext, *, final: bool
) -> OptionView:
    facts, graph = context.facts, context.graph
    assert facts is not None and graph is not None
    before: dict[int, Value] = {index: value for index, value in case.stated.items() if index < hop.index}
    earlier = [one for one in case.item.hops if one.index < hop.index]
    conditions = read_open_conditions(hop, earlier, before, facts, final=final)
    return view.add(
        conditions=tuple(tuple(is_met(condition, one, facts) for one in ids) for condition in conditions),
        years=tuple(find_year(graph, one) for one in ids),
        links=tuple(graph.degree(one) for one in ids),
    )


def _find_ids(hop: Hop, guess: Guess) -> tuple[str, ...]:
    """The options' Q-ids in their order; an empty one where none is known."""
    known = {one.text: one.id or "" for one in hop.distractors} | {hop.answer: hop.answer_id or ""}
    return tuple(known.get(text, "") for text in guess.options)


def _count_elsewhere(case: CheckedItem, hop: Hop, guess: Guess) -> tuple[int, ...]:
    """In how many earlier hops each option stands, as the answer or beside it; later ones name this one's answer."""
    others = [{one.answer, *one.options.values()} for one in case.item.hops if one.index < hop.index]
    return tuple(sum(text in texts for texts in others) for text in guess.options)
