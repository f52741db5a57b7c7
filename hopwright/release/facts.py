"""What a release states about how it was made and what it holds: the models of its manifest that the card renders."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from hopwright.checks.overlap import OverlapReport
from hopwright.difficulty.report import DifficultyReport
from hopwright.records import Source
from hopwright.release.separation import SeparationReport
from hopwright.release.statistics import DatasetStatistics
from hopwright.reporting.scorecard import Scorecard


class _Facts(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class StageCounts(_Facts):
    """Rows in, out and rejected of one stage; `unit` says what a row is (`anchors`, `plans`, `items`)."""

    stage: str
    unit: str = "rows"
    entered: int = Field(ge=0)
    left: int = Field(ge=0)
    rejected: int = Field(ge=0)


class AgreementFacts(_Facts):
    """How far reviewers agree on one criterion: Krippendorff's alpha and its 95 % interval, None where undefined."""

    kind: str
    criterion: str
    units: int
    alpha: float | None
    low: float | None = None
    high: float | None = None


class ReviewFacts(_Facts):
    """What the expert review came to."""

    annotators: int = Field(ge=0)
    reviews: int = Field(ge=0)
    outcomes: dict[str, int]
    """What became of the items and twins under review: `accepted`, or the reason why not."""
    scores: dict[str, str] = Field(default_factory=dict)
    """Kind and criterion → mean ± standard deviation over the accepted items."""
    agreement: tuple[AgreementFacts, ...] = ()


class RunFacts(_Facts):
    """What a card may say about the run that made a release. Nothing here differs between two equal runs."""

    generator: Literal["rules", "model"] = "rules"
    model: str = ""
    """Name and version of the model that worded the items; empty for rules."""
    writers: dict[str, int] = Field(default_factory=dict)
    """Factual items by who worded them, where a model did."""
    prompts: dict[str, int] = Field(default_factory=dict)
    """Prompt and its version → factual items that it worded."""
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
    """What the votes of models say; None for shortcut solvers, whose votes stand on the items."""
    drop_at: int = 2
    """So many right votes, and an item was dropped as too easy."""
    back_translation: str = ""
    """What translated there and back ("apertium eng-spa-eng"); empty when it did not run."""
    back_translation_skipped: str = ""
    """Why it did not run; empty when it did."""
    review: ReviewFacts | None = None
    """What experts said of the set bench; None where none looked at anything."""
    splits: dict[str, float] = Field(default_factory=dict)
    """Shares of the items that were drawn for the sets test and validation."""
    not_run: dict[str, str] = Field(default_factory=dict)
    """Stage or part → why it could not run."""


class SetFigures(_Facts):
    """What one set holds."""

    items: int
    twins: int
    factual: DatasetStatistics
    counterfactual: DatasetStatistics
    scorecard: Scorecard
    """Of the factual items."""
    overlap: OverlapReport
    """What the factual items were compared with, and repeat of it; a match's key is the item's id, or `id:hop`."""
    separation: SeparationReport | None = None
    """What was held back of this set for the sake of others; None where there was none to keep apart from."""
