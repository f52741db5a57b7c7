"""The dataset card: Hugging Face front matter, and a text that states what the run's facts hold, no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hopwright.difficulty.render import render_report
from hopwright.knowledge.external.tally import join_figures
from hopwright.records import Item
from hopwright.release.changes import ReleaseChanges
from hopwright.release.facts import RunFacts, SetFigures
from hopwright.release.layout import SPLIT_FILES, SetName, SplitFiles
from hopwright.reporting.rendering import load_template

_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)


def render_card(
    *,
    name: str,
    version: str,
    sets: Mapping[SetName, SetFigures],
    facts: RunFacts,
    rejections: Mapping[str, Mapping[str, int]],
    plots: Sequence[str],
    example: Item | None = None,
    changes: ReleaseChanges | None = None,
    anchors: bool = False,
) -> str:
    """Render README.md. `plots` are file names below `plots/`; `example` is shown hop by hop; `anchors`: whether the
    release lists anchor questions.
    """
    places = [
        place
        for place in SPLIT_FILES
        if place.set in sets and (sets[place.set].items if place.variant == "factual" else sets[place.set].twins)
    ]
    places = places or [SplitFiles(name, "factual") for name in sets]
    columns = {
        place.name.replace("_", " "): (
            sets[place.set].factual if place.variant == "factual" else sets[place.set].counterfactual
        )
        for place in places
    }
    configs: dict[str, dict[str, str]] = {}
    for place in places:
        configs.setdefault(place.config, {})[place.split] = place.parquet
    items, twins = (sum(getattr(one, what) for one in sets.values()) for what in ("items", "twins"))
    return load_template("hopwright.release", "card.md.j2").render(
        name=name,
        version=version,
        sets=sets,
        items=items,
        twins=twins,
        places=places,
        columns=columns,
        configs=configs,
        facts=facts,
        rejections=rejections,
        plots=[(plot, _find_caption(plot)) for plot in plots],
        example=example,
        changes=changes,
        anchors=anchors,
        claims=join_figures([one.factual.claims for one in sets.values()]),
        size=_find_size(items + twins),
        difficulty="" if facts.difficulty is None else render_report(facts.difficulty, level=3),
    )


_CAPTIONS = {
    "topologies.png": "Reasoning graphs",
    "domains.png": "Knowledge domains of the hops",
    "domains_per_item.png": "Domains per item",
    "computation_kinds.png": "Kinds of computation",
    "answer_types.png": "Types of the final answer",
    "rejections.png": "Rejected rows by stage and check",
    "calibration.png": "Calibration of the voters",
    "scorecard.png": "Length of the questions, and guessing from the options alone",
}


def _find_caption(plot: str) -> str:
    """A plot of a further set has the set's name before its own."""
    name, _, rest = plot.partition("_")
    return f"{_CAPTIONS[rest]} ({name})" if plot not in _CAPTIONS else _CAPTIONS[plot]


def _find_size(count: int) -> str:
    return next((name for limit, name in _SIZES if count < limit), "n>10M")
