"""The dataset card: Hugging Face front matter, and a text that states what the run's facts hold, no more."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Literal

import jinja2
from pydantic import BaseModel, ConfigDict, Field

from hopwright.difficulty.render import render_report
from hopwright.difficulty.report import DifficultyReport
from hopwright.records import Item, Source
from hopwright.release.statistics import DatasetStatistics
from hopwright.synthesis.checks.overlap import OverlapReport
from hopwright.synthesis.scorecard import Scorecard, write_bound

_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)


class _Facts(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StageCounts(_Facts):
    """Rows in, out and rejected of one stage; `unit` says what a row is (`anchors`, `plans`, `items`)."""

    stage: str
    unit: str = "rows"
    entered: int = Field(ge=0)
    left: int = Field(ge=0)
    rejected: int = Field(ge=0)


class RunFacts(_Facts):
    """What a card may say about the run that made a release. Nothing here differs between two equal runs."""

    profile: str
    generator: Literal["rules", "model"] = "rules"
    model: str = ""
    """Name and version of the model that worded the items; empty for rules."""
    writers: dict[str, int] = Field(default_factory=dict)
    """Factual items by who worded them, where a model did."""
    seed: int
    versions: dict[str, str] = Field(default_factory=dict)
    """Program or library → version."""
    corpus: str
    """Name of the graph, as in "the shipped sample of Wikidata facts"."""
    corpus_share: str = ""
    """Its size against the full corpus ("about 1 % of Wikidata5M"); empty when it is the full one."""
    corpus_entities: int = 0
    corpus_triplets: int = 0
    sources: tuple[Source, ...] = ()
    licence: str = "cc-by-4.0"
    """Of the dataset as a whole, by its Hugging Face identifier."""
    anchors: int = Field(ge=0)
    """Anchor questions that items were grown from."""
    anchor_source: str = ""
    stages: tuple[StageCounts, ...] = ()
    voters: tuple[str, ...] = ()
    """Names of the solvers that voted; empty when the stage did not run."""
    voters_note: str = ""
    """What the voters are, or why there were none: half a sentence, without a full stop."""
    voters_kind: Literal["solvers", "models", "voters"] = "solvers"
    difficulty: DifficultyReport | None = None
    """What the votes of models say; None for the solvers of the offline profile, whose votes stand on the items."""
    drop_at: int = 2
    """So many right votes, and an item was dropped as too easy."""
    back_translation: str = ""
    """What translated there and back ("apertium eng-spa-eng"); empty when it did not run."""
    back_translation_skipped: str = ""
    """Why it did not run; empty when it did."""
    expert_reviewed: bool = False
    not_run: dict[str, str] = Field(default_factory=dict)
    """Stage or part → why it could not run."""


def render_card(
    *,
    name: str,
    version: str,
    figures: DatasetStatistics,
    twin_figures: DatasetStatistics,
    facts: RunFacts,
    rejections: Mapping[str, Mapping[str, int]],
    plots: Sequence[str],
    example: Item | None = None,
    scorecard: Scorecard | None = None,
    overlap: OverlapReport | None = None,
) -> str:
    """Render README.md. `plots` are file names below `plots/`; `example` is shown hop by hop."""
    return _load_template().render(
        name=name,
        version=version,
        figures=figures,
        twin_figures=twin_figures,
        facts=facts,
        rejections=rejections,
        plots=plots,
        captions=_CAPTIONS,
        example=example,
        scorecard=scorecard,
        overlap=overlap,
        size=_find_size(figures.items + twin_figures.items),
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


@functools.cache
def _load_template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("hopwright.release", "templates"),
        autoescape=False,  # markdown: texts from the data go through `md`
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"md": _escape, "percent": _percent, "thousands": _thousands, "bound": write_bound}
    return environment.get_template("card.md.j2")


def _find_size(count: int) -> str:
    return next((name for limit, name in _SIZES if count < limit), "n>10M")


def _escape(text: str) -> str:
    """Text of the data inside a line of markdown or a table cell: no markup, no line break."""
    return re.sub(r"([\\`*_{}\[\]<>#|~$&])", r"\\\1", " ".join(text.split()))


def _percent(share: float) -> str:
    return "< 0.1 %" if 0 < share < 0.0005 else f"{share * 100:.1f} %"


def _thousands(number: int) -> str:
    return f"{number:,}"
