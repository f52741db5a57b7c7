"""How rightly names are linked, on the names of 2WikiMultihopQA whose Wikidata ids are known.

    python bench/linking.py --store STORE --wiki2 FILE [--passages FILE] [--plot FILE]
    python bench/linking.py --store STORE --wiki2 FILE [--passages FILE] --fit

STORE is a graph store (`hopwright graph ingest`); it should not be one into which the same questions went. Names are
subjects and objects of evidence triples and titles of supporting passages; an object is linked with its triple as
question, every name with the multi-hop question as context. A name is linkable if the entity meant is in the store and
bears the name there, and ambiguous if several do. Half of the questions, by a hash of their ids, is for fitting, and
figures are those of the other half. `--fit` prints the weights that fit the first half, the homonyms of the store's
own facts (half of their names), and the same homonyms without the entity that is meant.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from data_sets import read_lines
from numpy.typing import NDArray
from scipy.optimize import minimize

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hopwright.knowledge.wikidata import link_model
from hopwright.knowledge.wikidata.entity_kinds import describe_kind
from hopwright.knowledge.wikidata.linking import EntityLink, Linker, describe_alone
from hopwright.knowledge.wikidata.store import GraphStore
from tests.knowledge.wikidata.homonyms import make_cases

_ID = re.compile(r"Q\d+")
_ORDERED = ("compositional", "comparison", "inference")
"""Types of questions whose entities stand in the order of the passages."""
_HOMONYMS = 0.03
_REMOVED = 0.015
"""Weights of a homonym, and of one without the entity that is meant, where a name of 2WikiMultihopQA has 1."""
_SHRINK = 0.5
"""Penalty per squared difference of a weight from where the fit begins."""
_BINS = 10


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """A name with what is known around it, and the entity that it means."""

    name: str
    entity: str
    question: str
    context: str
    passages: str
    held_out: bool


@dataclass(frozen=True, slots=True)
class FitCase:
    """One choice to fit: features of each candidate, of the name alone, and the right one (-1: none of them)."""

    candidates: Sequence[Mapping[str, float]]
    alone: Mapping[str, float]
    told: bool
    right: int
    weight: float


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
    names = list(read_names(options.wiki2, read_passages(options.passages)))
    if options.fit:
        print(json.dumps(fit(gather_cases(store, names)), indent=1))
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


def read_names(path: Path, passages: Mapping[str, str]) -> Iterator[NamedEntity]:
    """The names whose entity is known, each once in a question, an object once in each of its triples."""
    for row in read_lines(path):
        held = bool(int(hashlib.sha256(row["_id"].encode()).hexdigest(), 16) & 2)
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
                yield NamedEntity(name, id, question, row["question"], texts, held)


def measure(linker: Linker, store: GraphStore, names: Sequence[NamedEntity], context: str) -> dict[str, float]:
    """Figures of the held-out half with one kind of context."""
    total: Counter[str] = Counter()
    for one in names:
        if not one.held_out:
            continue
        bearers = [store.id_of(match.entity) for match in store.matches(one.name)]
        link = linker.link(one.name, question=one.question, context=pick_context(one, context))
        linked, right = isinstance(link, EntityLink), isinstance(link, EntityLink) and link.entity == one.entity
        for group in ("", *(["ambiguous "] if len(bearers) > 1 else [])):
            total[f"{group}names"] += 1
            total[f"{group}in store"] += one.entity in store
            total[f"{group}linkable"] += one.entity in bearers
            total[f"{group}linked"] += linked
            total[f"{group}right"] += right
            total[f"{group}linked in store"] += linked and one.entity in store
    figures: dict[str, float] = dict(total)
    for group in ("", "ambiguous "):
        figures[f"{group}precision"] = total[f"{group}right"] / max(total[f"{group}linked"], 1)
        figures[f"{group}precision in store"] = total[f"{group}right"] / max(total[f"{group}linked in store"], 1)
        figures[f"{group}recall"] = total[f"{group}right"] / max(total[f"{group}linkable"], 1)
    return figures


def pick_context(one: NamedEntity, context: str) -> str:
    """The text around the name: the question, nothing, or the question with its supporting passages."""
    if context == "nothing":
        return ""
    return f"{one.context} {one.passages}" if context == "passages" else one.context


def render(figures: Mapping[str, Mapping[str, float]]) -> str:
    """A table of the kinds of context."""
    lines = [f"{'held-out half, context:':<32}" + "".join(f"{name:>12}" for name in figures)]
    for key in next(iter(figures.values())):
        form = "{:.3f}" if "precision" in key or "recall" in key else "{:,.0f}"
        lines.append(f"{key:<32}" + "".join(f"{form.format(one[key]):>12}" for one in figures.values()))
    return "\n".join(lines)


def gather_cases(store: GraphStore, names: Sequence[NamedEntity]) -> list[FitCase]:
    """The fitting half of the names, in every context, and half of the homonyms."""
    linker = Linker(store)
    cases = []
    for one in names:
        if not one.held_out:
            for context in dict.fromkeys(pick_context(one, kind) for kind in ("question", "nothing", "passages")):
                cases += make_case(linker, store, one.name, one.entity, one.question, context, 1.0)
    for homonym in make_cases(store):
        if int(hashlib.sha256(homonym.name.casefold().encode()).hexdigest(), 16) & 1:
            arguments = (linker, store, homonym.name, homonym.entity, homonym.question, homonym.context)
            cases += make_case(*arguments, _HOMONYMS)
            cases += make_case(*arguments, _REMOVED, removed=True)
    return cases


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
            describe_alone(name, question, len(scored)),
            bool(describe_kind(context, name).noun),
            ids.index(entity) if entity in ids else -1,
            weight,
        )
    ]


def fit(cases: Sequence[FitCase]) -> dict[str, dict[str, float]]:
    """Weights by table, near those that the fit begins from."""
    named = ("said", "alias", "loose", "stripped", "values", "typical", "other_fact", "is_", "degree_asked")
    keys = sorted({key for case in cases for one in case.candidates for key in one})
    shared = [key for key in keys if any(part in key for part in named)]
    own = [key for key in keys if key not in shared]
    untold = [key for key in own if "told" not in key and not key.endswith("in_text")]
    alone = sorted({key for case in cases for key in case.alone})
    tables = {"TOLD": own, "UNTOLD": untold, "NAMED": shared, "ABSENT": alone}
    places = {pair: place for place, pair in enumerate((table, key) for table, keys in tables.items() for key in keys)}
    begin = np.zeros(len(places))
    for (table, key), place in places.items():
        if table == "TOLD" and key != "found":
            begin[place] = link_model.TOLD.get(key, 0.0)
        elif table == "UNTOLD" and key != "found":
            begin[place] = 0.5 * link_model.TOLD.get(key, 0.0) + (1.8 if key == "degree" else 0.0)
    prepared = [prepare(case, places) for case in cases]
    done = minimize(loss, begin, args=(prepared, begin), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    result: dict[str, dict[str, float]] = {table: {} for table in tables}
    for (table, key), place in places.items():
        result[table][key] = round(float(done.x[place]), 2)
    return result


Prepared = tuple[NDArray[Any], NDArray[Any], int, float]


def prepare(case: FitCase, places: Mapping[tuple[str, str], int]) -> Prepared:
    """Features as a matrix whose last row is the outcome that nobody is meant, fixed scores, the right row, weight.

    In a text that tells, another row stands for the outcome that it leaves open which one.
    """
    count = len(case.candidates)
    rows = count + 1 + (case.told and count > 1)
    matrix, fixed = np.zeros((rows, len(places))), np.zeros(rows)
    for row, features in enumerate(case.candidates):
        for key, value in features.items():
            for table in ("TOLD" if case.told else "UNTOLD", "NAMED"):
                if (table, key) in places:
                    matrix[row, places[table, key]] = value
    for key, value in case.alone.items():
        matrix[count, places["ABSENT", key]] = value
    if rows > count + 1:
        fixed[count + 1] = link_model.NEITHER
    return matrix, fixed, case.right if case.right >= 0 else count, case.weight


def loss(
    weights: NDArray[Any], prepared: Sequence[Prepared], begin: NDArray[Any]
) -> tuple[float, NDArray[Any]]:  # fmt: skip
    """Negative log-likelihood with the penalty, and its gradient."""
    away = weights - begin
    value, gradient = _SHRINK * float(away @ away), 2 * _SHRINK * away
    for matrix, fixed, right, weight in prepared:
        scores = matrix @ weights + fixed
        chances = np.exp(scores - scores.max())
        chances /= chances.sum()
        value -= weight * float(np.log(chances[right] + 1e-12))
        gradient += weight * (chances @ matrix - matrix[right])
    return value, gradient


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
            alone = describe_alone(one.name, one.question, len(scored))
            given.append(link_model.find_chances([each.score for each in scored], alone, told=told).candidates[0])
            right.append(scored[0].id == one.entity)
    return np.array(given), np.array(right, float)


if __name__ == "__main__":
    main()
