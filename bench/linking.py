"""How rightly names are linked, on the names of 2WikiMultihopQA whose Wikidata ids are known.

    python bench/linking.py --store STORE --wiki2 FILE [--passages FILE] [--plot FILE]
    python bench/linking.py --store STORE --wiki2 FILE [--passages FILE] --fit

STORE is a graph store (`hopwright graph ingest`); it should not be one into which the same questions went. Names are
subjects and objects of evidence triples and titles of supporting passages; an object is linked with its triple as
question, every name with the multi-hop question as context. A name is linkable if the entity meant is in the store and
bears the name there, and ambiguous if several do. Half of the questions, by a hash of their ids, is for fitting, and
figures are those of the other half, with Wilson's intervals. Some rows of the data set give two entities each other's
names: the figures are those as published, and again without such names (`uncrossed`). `--fit` prints the weights that
fit the first half (without such names, with those of rows in disorder), the homonyms of the store's own facts (half of
their names), and the same homonyms without the entity that is meant; and how the fit does on the first half, each fifth
linked with the weights of the others.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from data_sets import read_lines
from link_fitting import FitCase, fit, pick_best
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hopwright.knowledge.wikidata import link_model
from hopwright.knowledge.wikidata.entity_kinds import describe_kind
from hopwright.knowledge.wikidata.linking import EntityLink, Linker, describe_alone
from hopwright.knowledge.wikidata.name_description import strip_brackets
from hopwright.knowledge.wikidata.store import GraphStore
from hopwright.scoring.intervals import find_share
from hopwright.text.folding import fold
from tests.knowledge.wikidata.homonyms import make_cases

_ID = re.compile(r"Q\d+")
_ORDERED = ("compositional", "comparison", "inference")
"""Types of questions whose entities stand in the order of the passages."""
_HOMONYMS = 0.03
_REMOVED = 0.015
"""Weights of a homonym, and of one without the entity that is meant, where a name of 2WikiMultihopQA has 1."""
_BINS = 10
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """A name with what is known around it, and the entity that it means."""

    name: str
    entity: str
    question: str
    context: str
    passages: str
    row: str
    held_out: bool
    crossed: bool = False
    """The row gives the name to another entity than the one that bears it, and which the row names otherwise."""


def main() -> None:
    """Measure, or fit and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--wiki2", type=Path)
    parser.add_argument("--passages", type=Path, help="texts of the supporting passages, measured as further context")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--plot", type=Path, help="calibration of the held-out half, as a picture")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.store is None or options.wiki2 is None:
        print("needs --store and --wiki2: the data set is not shipped")
        return
    store = GraphStore.open(options.store)
    names = mark_crossed(store, list(read_names(options.wiki2, read_passages(options.passages))))
    if options.fit:
        fitting = [one for one in names if not one.held_out and not one.crossed]
        fitting += [one for one in read_unordered(options.wiki2, store) if not one.held_out]
        cases, homonyms = gather_cases(store, fitting), gather_homonyms(store)
        print(json.dumps(fit([*(case for some in cases.values() for case in some), *homonyms]), indent=1))
        print(render_cross_validation(store, cross_validate(cases, homonyms), fitting))
        return
    linker = Linker(store)
    figures = {
        context: measure(linker, store, names, context)
        for context in ("question", "nothing", *(["passages"] if options.passages else []))
    }
    if options.plot:
        plot_calibration(linker, store, names, options.plot)
    print(json.dumps(figures, indent=1) if options.json else render(figures))


def read_passages(path: Path | None) -> dict[str, str]:
    """Texts by title."""
    return {row["title"]: row["text"] for row in read_lines(path)} if path else {}


def read_unordered(path: Path, store: GraphStore) -> Iterator[NamedEntity]:
    """Names of rows that list their entities in another order than their passages, for the fit alone.

    Which entity a name means is told where one of the row's entities bears it in the store; a name that none of them
    bears means nobody there.
    """
    for row in read_lines(path):
        if row["type"] in _ORDERED or row["evidences_id"]:
            continue
        entities = set(row["entity_ids"].split("_"))
        titles = dict.fromkeys(title for title, _ in row["supporting_facts"])
        bare = {fold(strip_brackets(title)) for title in titles}
        found = [(title, "") for title in titles]
        for subject, relation, value in row["evidences"]:
            found += [(subject, ""), (value, f"{subject} >> {relation}")] if fold(value) in bare else []
        for name, question in dict.fromkeys(found):
            borne = entities.intersection(store.id_of(match.entity) for match in store.matches(name))
            if len(borne) < 2:
                yield NamedEntity(name, "".join(borne), question, row["question"], "", row["_id"], is_held_out(row))


def is_held_out(row: Mapping[str, Any]) -> bool:
    """Whether figures are made of the row; the others are for the fit."""
    return bool(int(hashlib.sha256(row["_id"].encode()).hexdigest(), 16) & 2)


def read_names(path: Path, passages: Mapping[str, str]) -> Iterator[NamedEntity]:
    """The names whose entity is known, each once in a question, an object once in each of its triples."""
    for row in read_lines(path):
        titles = list(dict.fromkeys(title for title, _ in row["supporting_facts"]))
        texts = " ".join(passages[title] for title in titles if title in passages)
        found: list[tuple[str, str, str]] = []
        if len(row["evidences"]) == len(row["evidences_id"]):
            for (subject, relation, value), (first, _, last) in zip(row["evidences"], row["evidences_id"], strict=True):
                found.append((subject, first, ""))
                found.append((value, last, f"{subject} >> {relation}"))
        entities = row["entity_ids"].split("_")
        if row["type"] in _ORDERED and len(titles) == len(entities):
            found += [(title, id, "") for title, id in zip(titles, entities, strict=True)]
        for name, id, question in dict.fromkeys(found):
            if _ID.fullmatch(id or ""):
                yield NamedEntity(name, id, question, row["question"], texts, row["_id"], is_held_out(row))


def mark_crossed(store: GraphStore, names: Sequence[NamedEntity]) -> list[NamedEntity]:
    """The names, those marked whose entity does not bear them while another entity of their row does."""
    borne = {id: {fold(one) for one in (store.label(id), *store.aliases(id))} for id in {one.entity for one in names}}
    rows: dict[str, set[str]] = {}
    for one in names:
        rows.setdefault(one.row, set()).add(one.entity)
    marked = []
    for one in names:
        name = fold(strip_brackets(one.name))
        others = rows[one.row] - {one.entity}
        crossed = name not in borne[one.entity] and any(name in borne[other] for other in others)
        marked.append(replace(one, crossed=crossed))
    return marked


def measure(linker: Linker, store: GraphStore, names: Sequence[NamedEntity], context: str) -> dict[str, float]:
    """Figures of the held-out half with one kind of context."""
    total: Counter[str] = Counter()
    for one in names:
        if not one.held_out:
            continue
        bearers = [store.id_of(match.entity) for match in store.matches(one.name)]
        link = linker.link(one.name, question=one.question, context=pick_context(one, context))
        linked, right = isinstance(link, EntityLink), isinstance(link, EntityLink) and link.entity == one.entity
        groups = ["", *(["ambiguous "] if len(bearers) > 1 else []), *([] if one.crossed else ["uncrossed "])]
        for group in groups:
            total[f"{group}names"] += 1
            total[f"{group}in store"] += one.entity in store
            total[f"{group}linkable"] += one.entity in bearers
            total[f"{group}linked"] += linked
            total[f"{group}right"] += right
            total[f"{group}linked in store"] += linked and one.entity in store
    figures: dict[str, float] = dict(total)
    shares = (("precision", "linked"), ("precision in store", "linked in store"), ("recall", "linkable"))
    for group in ("", "ambiguous ", "uncrossed "):
        for share, whole in shares:
            estimate = find_share(total[f"{group}right"], total[f"{group}{whole}"])
            figures[f"{group}{share}"] = estimate.value or 0.0
            figures[f"{group}{share}, from"], figures[f"{group}{share}, to"] = estimate.low or 0.0, estimate.high or 0.0
    return figures


def pick_context(one: NamedEntity, context: str) -> str:
    """The text around the name: the question, nothing, or the question with its supporting passages."""
    if context == "nothing":
        return ""
    return f"{one.context} {one.passages}".strip() if context == "passages" else one.context


def render(figures: Mapping[str, Mapping[str, float]]) -> str:
    """A table of the kinds of context."""
    lines = [f"{'held-out half, context:':<32}" + "".join(f"{name:>12}" for name in figures)]
    for key in next(iter(figures.values())):
        form = "{:.3f}" if "precision" in key or "recall" in key else "{:,.0f}"
        lines.append(f"{key:<32}" + "".join(f"{form.format(one[key]):>12}" for one in figures.values()))
    return "\n".join(lines)


def gather_cases(store: GraphStore, names: Sequence[NamedEntity]) -> dict[NamedEntity, list[FitCase]]:
    """The choices that each name offers in every context; that of the question comes first."""
    linker = Linker(store)
    cases: dict[NamedEntity, list[FitCase]] = {}
    for one in names:
        for context in dict.fromkeys(pick_context(one, kind) for kind in ("question", "nothing", "passages")):
            some = make_case(linker, store, one.name, one.entity, one.question, context, 1.0)
            cases.setdefault(one, []).extend(some)
        subject, arrow, relation = one.question.partition(" >> ")
        if arrow:  # anchors ask in words, which tell the kind and no relation
            words = f"What is the {relation} of {subject}?"
            cases[one] += make_case(linker, store, one.name, one.entity, words, one.context, 1.0)
    return cases


def gather_homonyms(store: GraphStore) -> list[FitCase]:
    """Half of the homonyms of the store's facts, and the same without the entity that is meant."""
    linker = Linker(store)
    cases = []
    for homonym in make_cases(store):
        if int(hashlib.sha256(homonym.name.casefold().encode()).hexdigest(), 16) & 1:
            arguments = (linker, store, homonym.name, homonym.entity, homonym.question, homonym.context)
            cases += make_case(*arguments, _HOMONYMS)
            cases += make_case(*arguments, _REMOVED, removed=True)
    return cases


def cross_validate(
    cases: Mapping[NamedEntity, Sequence[FitCase]], homonyms: Sequence[FitCase]
) -> list[tuple[float, bool]]:
    """Probability of the best candidate of each name in its question, and whether it is right.

    Each fifth of the questions has the weights that fit the others.
    """
    folds = {one: int(hashlib.sha256(one.row.encode()).hexdigest(), 16) // 4 % _FOLDS for one in cases}
    given = []
    for fold_number in range(_FOLDS):
        others = [case for one, some in cases.items() if folds[one] != fold_number for case in some]
        tables = fit([*others, *homonyms])
        for one, some in cases.items():
            if folds[one] == fold_number and some:
                given.append(pick_best(some[0], tables))
    return given


def render_cross_validation(
    store: GraphStore, given: Sequence[tuple[float, bool]], names: Sequence[NamedEntity]
) -> str:
    """What limits of the probability give."""
    linkable = sum(one.entity in {store.id_of(match.entity) for match in store.matches(one.name)} for one in names)
    lines = ["limit  linked  right of the linked  of the linkable"]
    for limit in (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9):
        linked = [right for chance, right in given if chance >= limit]
        lines.append(f"{limit:5}{len(linked):8}{sum(linked) / max(len(linked), 1):21.3f}{sum(linked) / linkable:17.3f}")
    return "\n".join(lines)


def make_case(
    linker: Linker, store: GraphStore, name: str, entity: str, question: str, context: str, weight: float,
    *, removed: bool = False,
) -> list[FitCase]:  # fmt: skip
    """The choice that a name offers, none if it has no candidates; `removed` takes the right one out of them."""
    matches = [one for one in store.matches(name)[:64] if not (removed and store.id_of(one.entity) == entity)]
    scored = linker.score(matches, name, question, context) if matches else []
    if not scored:
        return []
    ids = [one.id for one in scored]
    return [
        FitCase(
            [one.features for one in scored],
            describe_alone(question, len(scored)),
            bool(describe_kind(context, name).noun),
            ids.index(entity) if entity in ids else -1,
            weight,
        )
    ]


def plot_calibration(linker: Linker, store: GraphStore, names: Sequence[NamedEntity], path: Path) -> None:
    """Share of right ones by the probability given to the best candidate, over the held-out half."""
    import matplotlib.pyplot as plt

    given, right = list_chances(linker, store, names)
    edges = np.quantile(given, np.linspace(0, 1, _BINS + 1))
    bins = np.clip(np.searchsorted(edges, given, side="right") - 1, 0, _BINS - 1)
    figure, axes = plt.subplots(figsize=(4.5, 4.5), layout="constrained")
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    points = [(given[bins == one].mean(), right[bins == one].mean()) for one in range(_BINS) if (bins == one).any()]
    axes.plot(*zip(*points, strict=True), marker="o", linewidth=1)
    axes.set(xlabel="probability of the best candidate", ylabel="share that are right", xlim=(0, 1), ylim=(0, 1))
    axes.set_title(f"{len(given)} names with candidates, tenths", fontsize=10)
    figure.savefig(path, dpi=150)


def list_chances(linker: Linker, store: GraphStore, names: Sequence[NamedEntity]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Probability of the best candidate of every held-out name that has one, and whether it is right."""
    given, right = [], []
    for one in names:
        if not one.held_out:
            continue
        matches = store.matches(one.name)
        scored = linker.score(matches, one.name, one.question, one.context) if matches else []
        if scored:
            told = bool(describe_kind(one.context, one.name).noun)
            alone = describe_alone(one.question, len(scored))
            given.append(link_model.find_chances([each.score for each in scored], alone, told=told).candidates[0])
            right.append(scored[0].id == one.entity)
    return np.array(given), np.array(right, float)


if __name__ == "__main__":
    main()
