"""The expert review in Label Studio."""

from typing import Annotated, Literal

from pydantic import Field

from hopwright.settings.base import ADDRESS_PATTERN, Cli, Parameters
from hopwright.settings.corpus import CorpusName


class ReviewParameters(Parameters):
    """What goes to the experts in Label Studio. The access token comes from LABEL_STUDIO_API_KEY only."""

    url: Annotated[str, Cli(metavar="URL", main=True)] = Field(
        default="",
        max_length=500,
        pattern=ADDRESS_PATTERN,
        title="Label Studio address",
        description="Push the tasks to this server. Empty only writes the task files.",
    )
    items: Annotated[int, Cli(main=True)] = Field(
        default=300,
        ge=0,
        le=250_000,
        title="Items to review",
        description="Number of items to export, drawn evenly over the topologies; 0 exports none.",
    )
    kinds: list[Literal["single_hop", "multi_hop", "twin"]] = Field(
        default=["single_hop", "multi_hop", "twin"],
        min_length=1,
        max_length=3,
        title="Kinds of tasks",
        description="What is reviewed of an item: each hop by itself, the whole question, its counterfactual twin.",
    )
    overlap: int = Field(
        default=2, ge=1, le=10, title="Reviewers per task", description="Number of people who review each task."
    )
    agreement_overlap: int = Field(
        default=3,
        ge=1,
        le=10,
        title="Reviewers of the agreement sample",
        description="Number of people who review each task of the items on which agreement is measured.",
    )
    agreement_items: int = Field(
        default=30,
        ge=0,
        le=10_000,
        title="Agreement sample",
        description="Number of items that go to the larger number of reviewers.",
    )
    blind: Annotated[bool, Cli(main=True)] = Field(
        default=False,
        title="Answer first",
        description="Reviewers answer each question themselves before the page shows the stated answer.",
    )
    gold_share: float = Field(
        default=0.05,
        ge=0,
        le=0.5,
        title="Gold items",
        description="Share of attention checks, which are items with a planted fault, for each kind of task.",
    )


class PullParameters(Parameters):
    """How reviews come home from Label Studio. The access token comes from LABEL_STUDIO_API_KEY only."""

    url: str = Field(
        default="",
        max_length=500,
        pattern=ADDRESS_PATTERN,
        title="Label Studio address",
        description="The server that holds the review tasks; empty takes LABEL_STUDIO_URL.",
    )
    all_runs: bool = Field(
        default=False,
        title="All runs",
        description="Pull every run that was pushed to this server, whichever run is named. A schedule uses this.",
    )
    full: bool = Field(
        default=False, title="Everything", description="Fetch every annotation again, not only those that changed."
    )


class ReviewThresholds(Parameters):
    """When reviewers differ too much, and when an item is good enough."""

    min_mean: float = Field(
        default=4.0,
        ge=1,
        le=5,
        title="Least mean",
        description="An item is rejected whose mean over all criteria is below this.",
    )
    floor: float = Field(
        default=3.0,
        ge=1,
        le=5,
        title="Floor",
        description="An item is rejected when its reviewers' mean on any one criterion, of any hop, is below this.",
    )
    score_gap: int = Field(
        default=2,
        ge=0,
        le=4,
        title="Largest gap",
        description="Scores of one criterion that are further apart than this are settled by an adjudicator.",
    )


class AdjudicateParameters(ReviewThresholds):
    """When reviewers differ too much, and when an item is good enough for the bench."""

    url: str = Field(
        default="",
        max_length=500,
        pattern=ADDRESS_PATTERN,
        title="Label Studio address",
        description="Push disputes to this server. Empty only decides.",
    )
    settle_returned: bool = Field(
        default=False,
        title="Settle what was not answered",
        description="Give corrections that do not hold to the adjudicator, instead of waiting for their authors.",
    )


class CorpusRetainParameters(CorpusName, ReviewThresholds):
    """Which reviewed questions over documents are retained."""

    reviewers: int = Field(
        default=2,
        ge=1,
        le=20,
        title="Reviewers",
        description="A question waits until so many people have reviewed it.",
    )
