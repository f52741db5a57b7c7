"""Votes and worlds that contradict themselves."""

from __future__ import annotations

from tests.faults.planting import fault


@fault("votes")
def vote_marked_wrongly(row, graph):
    vote = {"model": "prior", "option": row["correct_answer_label"], "probabilities": [], "right": False}
    yield row | {"votes": [vote]}


@fault("votes")
def impossible_probabilities(row, graph):
    vote = {"model": "prior", "option": row["correct_answer_label"], "probabilities": [0.9, 0.9, 0, 0], "right": True}
    yield row | {"votes": [vote]}
    yield row | {"votes": [vote | {"probabilities": []}] * 2}


@fault("world")
def surrogates_in_a_factual_item(row, graph):
    yield row | {"world": [{"original": "Vestmark", "surrogate": "Ruland", "id": "Q903"}]}


@fault("surrogates", "identity", needs_graph=True)
def twin_with_known_names(row, graph):
    """A factual item that passes itself off as a counterfactual one."""
    world = [{"original": "Velmora", "surrogate": "Vestmark", "id": "QX1_a"}]
    yield row | {"variant": "counterfactual", "twin": "hw-0", "world": world}
